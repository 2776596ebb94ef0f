"""Cases of a restore that is killed."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from agent.accounts.accounts import Accounts
from agent.errors import UsageError
from agent.settings.config import read_config
from agent.store.backup import restore_backup, write_backup
from agent.store.database import Store
from bench.trust.scorecard import Bench, Result, case

KILLED = """
import os, pathlib, signal, sys
from agent.store import backup
rename, moves = pathlib.Path.rename, []
def move(path, target):
    made = rename(path, target)
    moves.append(path)
    if len(moves) == int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)
    return made
pathlib.Path.rename = move
backup.restore_backup(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), force=True)
"""


@case(
    "S6.17",
    "A restore killed after each of its moves: is the data opened, and does another restore finish it?",
    "0 opened between, all finished with what was there kept whole",
    quick=True,
)
def killed_restores(bench: Bench) -> Result:
    misses, names = [], {"accounts.db", "touchstone.db"}
    moves = range(1, 5)
    for n in moves:
        with tempfile.TemporaryDirectory() as folder:
            data, packed = Path(folder) / "data", Path(folder) / "b.zip"
            Accounts(read_config({"TOUCHSTONE_DATA": str(data)})).close()
            Store(f"sqlite:///{data / 'touchstone.db'}").close()
            write_backup(data, packed)
            command = [sys.executable, "-c", KILLED, str(packed), str(data), str(n)]
            killed = subprocess.run(command, check=False).returncode
            misses += [] if killed == -signal.SIGKILL else [f"{n}: not killed"]
            try:
                Accounts(read_config({"TOUCHSTONE_DATA": str(data)})).close()
                misses.append(f"{n}: opened")
            except UsageError:
                pass
            kept = restore_backup(packed, data, force=True).kept
            is_whole = kept and {path.name for path in kept.iterdir()} == names
            if not is_whole or not all((data / name).exists() for name in names):
                misses.append(f"{n}: not whole")
            Accounts(read_config({"TOUCHSTONE_DATA": str(data)})).close()
    return Result(len(moves), f"{len(moves)} kills, {len(misses)} misses", misses)
