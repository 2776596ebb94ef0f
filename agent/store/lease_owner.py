"""Who holds a lease: one worker of one process on one machine, and whether that process is still there."""

from __future__ import annotations

import os
import socket
import uuid
from pathlib import Path

_HOST = socket.gethostname()


def new_owner_id() -> str:
    """A name for a holder of leases in this process: host, process id, the process's start, and a random
    part."""
    pid = os.getpid()
    return f"{_HOST}|{pid}|{_process_start_time(pid)}|{uuid.uuid4().hex[:12]}"


def is_owner_gone(owner: str) -> bool:
    """Is the holder surely dead? Only a process of this machine can be known to be; another's lease must run
    out."""
    host, pid, started = [*owner.split("|"), "", "", ""][:3]
    if host != _HOST or not pid.isdigit() or os.name != "posix":
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return bool(started) and _process_start_time(int(pid)) != started


def _process_start_time(pid: int) -> str:
    """The kernel's start time of a process (clock ticks since boot, field 22 of /proc/PID/stat); "" where
    there is none.

    It tells a process from a later one that was given the same id. A zombie counts as gone: it will never
    renew its lease."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "zombie" if fields[0] == "Z" else fields[19]
