"""Cases of what is kept: backups under wrong clocks and kills."""

from __future__ import annotations

import contextlib
import logging
import os
import random
import signal
import sqlite3
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from agent.settings.config import read_config
from agent.store.backup import BackupSchedule, list_backups, verify_backup
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
    count, misses, written = bench.pick(200, 4), [], 0
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
    count, dice, misses, left, former = bench.pick(100, 3), random.Random(3), [], 0, os.umask(0o022)
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
