"""Cases of what is kept: backups under wrong clocks and kills, hostile backups, restores that are killed."""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import random
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import time
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from agent.accounts.accounts import Accounts
from agent.errors import StoreError, UsageError
from agent.settings.config import read_config
from agent.store.backup import (
    MANIFEST,
    BackupSchedule,
    list_backups,
    restore_backup,
    verify_backup,
    write_backup,
)
from agent.store.database import Store
from bench.trust.scorecard import Bench, Result, case

HOUR, DAY = 3600.0, 86400.0
SECRET = b"a note that nobody else may read"


@contextlib.contextmanager
def data_folder(keep: int = 7, rows: int = 10) -> Iterator[BackupSchedule]:
    """The hourly backups of a folder with a database and a file."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "data"
        (folder / "people" / "p1").mkdir(parents=True)
        (folder / "people" / "p1" / "settings.json").write_text("{}")
        with closing(sqlite3.connect(folder / "touchstone.db")) as database, database:
            database.execute("CREATE TABLE notes (text BLOB)")
            database.executemany("INSERT INTO notes VALUES (?)", [(SECRET * 30,)] * rows)
        given = {"TOUCHSTONE_DATA": str(folder), "BACKUP_EVERY_H": "1", "BACKUP_KEEP": str(keep)}
        yield BackupSchedule(read_config(given))


def kept_by(schedule: BackupSchedule) -> list[Path]:
    return [path for _, _, path in list_backups(schedule.folder)]


class Told(logging.Handler):
    """The warnings of the schedule."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


@case(
    "S6.9",
    "Backups under a clock that jumps between 1970 and 2106, 12 looks each",
    "none skipped for more than an interval, the newest kept, told; 0 wrong of 200",
    quick=True,
)
def clocks(bench: Bench) -> Result:
    count, misses, written = bench.pick(200, 8), [], 0
    log, told = logging.getLogger("agent.store.backup"), Told()
    log.addHandler(told)
    for seed in range(count):
        dice, keep = random.Random(seed), random.Random(seed).choice((1, 2, 7))
        real, made = 1.795e9, list[tuple[float, Path]]()
        with data_folder(keep) as schedule:
            for _ in range(12):
                real += dice.uniform(0.1, 2.5) * HOUR
                wrong = dice.choice(
                    (0, 0, 0, -DAY, DAY, 3650 * DAY, -3650 * DAY, 60 - real, 2**32 - 1 - real)
                )
                told.lines.clear()
                is_due = not any(0 <= real + wrong - at < HOUR for at, _ in made[-keep:])
                is_ahead = any(at >= real + wrong + 1 for at, _ in made[-keep:])
                new = schedule.write_due(real + wrong)
                if is_due and new is None:
                    misses.append(f"seed {seed}: due at {wrong:+.0f} s, and none was written")
                if new is None:
                    continue
                written += 1
                made.append((real + wrong, new))
                if kept_by(schedule) != [path for _, path in made[-keep:]]:
                    misses.append(f"seed {seed}: kept are not the newest {keep} at {wrong:+.0f} s")
                if is_ahead and not told.lines:
                    misses.append(f"seed {seed}: one is dated ahead at {wrong:+.0f} s, and nothing was told")
    log.removeHandler(told)
    return Result(count, f"{len(misses)} wrong; {written} backups written", misses)


@case(
    "S6.12",
    "SIGKILL at random moments of a backup: what is left, and who may read it",
    "for the owner alone, gone with the next backup; 0 wrong of 100",
    quick=True,
)
def killed_backups(bench: Bench) -> Result:
    count, dice, misses, left, former = bench.pick(100, 6), random.Random(3), [], 0, os.umask(0o022)
    try:
        with data_folder(keep=2, rows=20_000) as schedule:
            now = 1.795e9
            for n in range(count):
                now += 2 * HOUR
                if not (pid := os.fork()):
                    schedule.write_due(now)
                    os._exit(0)
                time.sleep(dice.uniform(0.0, 0.25))
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                rooms = list(schedule.folder.glob(".*")) if schedule.folder.exists() else []
                left += bool(rooms)
                for room in rooms:
                    misses += (
                        [f"{n}: {room.name} can be read"] if stat.S_IMODE(room.stat().st_mode) & 0o77 else []
                    )
                    inside = [path for path in room.rglob("*") if path.is_file() and path.stat().st_size]
                    open_ones = [p.name for p in inside if stat.S_IMODE(p.stat().st_mode) & 0o77]
                    misses += [f"{n}: {open_ones} can be read"] if open_ones else []
                now += 2 * HOUR
                made = schedule.write_due(now)
                if made is None or verify_backup(made).files[0].name != "people/p1/settings.json":
                    misses.append(f"{n}: no whole backup after the kill")
                if list(schedule.folder.glob(".*")):
                    misses.append(f"{n}: not swept")
                if len(kept_by(schedule)) > 2:
                    misses.append(f"{n}: {len(kept_by(schedule))} kept")
    finally:
        os.umask(former)
    return Result(count, f"{len(misses)} wrong; {left} kills left something", misses)


def entry(name: str, content: bytes = b"x", **changes: Any) -> dict[str, Any]:
    """What a manifest says of a file."""
    return {"name": name, "sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)} | changes


PLACES = (
    "/etc/x", "../x", "a/../../x", "..\\x", "C:x", "C:\\x", "~/../x", ".", "./..", "backups/x", "backups", "./backups/x",
    "before-restore-1/x", ".touchstone-room-1/x", "a\0b", "x" * 300, "a/" * 2100 + "x", "touchstone.db/x", "\ud800x",
)  # fmt: skip
"""Names of a file in a manifest that lead somewhere else than into a data folder, or nowhere."""


def hostile_backups() -> Iterator[tuple[str, list[dict[str, Any]], dict[str, bytes]]]:
    """Name, entries of the manifest, and files."""
    good = entry("touchstone.db", b"")
    for place in PLACES:
        yield f"place {place[:30]!a}", [good, entry(place)], {"touchstone.db": b"", place: b"x"}
    yield "another hash", [entry("a", b"y")], {"a": b"x"}
    yield "another size", [entry("a", bytes=2)], {"a": b"x"}
    yield "a negative size", [entry("a", bytes=-1)], {"a": b"x"}
    yield "a file that is absent", [good, entry("b")], {"touchstone.db": b""}
    yield "a file that is a folder too", [entry("a"), entry("a/b")], {"a": b"x", "a/b": b"x"}
    yield "no database", [entry("x.db", b"no database" * 9)], {"x.db": b"no database" * 9}
    yield (
        "an older database without pages",
        [entry("x.db", b"SQLite format 3\0" * 9)],
        {"x.db": b"SQLite format 3\0" * 9},
    )


def pack(target: Path, entries: list[dict[str, Any]], files: dict[str, bytes]) -> None:
    """A backup with these entries."""
    with warnings.catch_warnings(), zipfile.ZipFile(target, "w") as archive:
        warnings.simplefilter("ignore")
        archive.writestr(MANIFEST, json.dumps({"format": 1, "made_at": "", "files": entries}))
        for name, content in files.items():
            with contextlib.suppress(UnicodeEncodeError):
                archive.writestr(name, content)


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@case(
    "S6.13",
    "Hostile backups and moves that fail, restored over a full data folder with --force",
    "a sentence; the former content stays where it was, nothing elsewhere",
    quick=True,
)
def hostile_restores(bench: Bench) -> Result:
    misses, n = [], 0
    with data_folder() as schedule:
        schedule.write_due(1.795e9)
        folder, [whole] = schedule.config.data_folder, kept_by(schedule)
        source, before = folder.parent / "b.zip", tree(folder)
        rename = Path.rename
        for name, entries, files in hostile_backups():
            n += 1
            pack(source, entries, files)
            misses += attempt(name, source, folder)
            source.unlink()
            misses += [] if tree(folder.parent) == before else [f"{name}: something was changed"]
        for failing in range(1, 5):
            n, moves = n + 1, iter(range(1, 100))

            def move(path: Path, target: Path, failing: int = failing, moves: Iterator[int] = moves) -> Path:
                if next(moves) == failing:
                    raise OSError("mounted")
                return rename(path, target)

            Path.rename = move  # type: ignore[method-assign, assignment]
            misses += attempt(f"move {failing}", whole, folder)
            Path.rename = rename  # type: ignore[method-assign]
            misses += [] if tree(folder.parent) == before else [f"move {failing}: something was changed"]
    return Result(n, f"{len(misses)} wrong", misses)


def attempt(name: str, source: Path, folder: Path) -> list[str]:
    """What is wrong with how a restore is refused."""
    try:
        restore_backup(source, folder, force=True)
    except (UsageError, StoreError):
        return []
    except Exception as error:
        return [f"{name}: {type(error).__name__}: {error}"]
    return [f"{name}: was restored"]


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
