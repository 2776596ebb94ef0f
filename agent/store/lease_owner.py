"""The holder of a lease: one worker of one process, and whether that process is still alive."""

from __future__ import annotations

import os
import socket
import uuid
from pathlib import Path

_HOST = socket.gethostname()


def new_owner_id() -> str:
    """A unique name for a holder in this process: host, process id, start time, random part."""
    pid = os.getpid()
    return f"{_HOST}|{pid}|{_process_start_time(pid)}|{uuid.uuid4().hex[:12]}"


def is_owner_gone(owner: str) -> bool:
    """Is the holder surely dead? Only known for processes of this machine; other leases must expire."""
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
    """The start time of a process (clock ticks since boot, field 22 of /proc/PID/stat), which tells it from a
    later process with the same id; "zombie" for a zombie, "" when there is none."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "zombie" if fields[0] == "Z" else fields[19]
