"""Backups at intervals, in a thread of the server; the newest few are kept."""

from __future__ import annotations

import logging
import re
import threading
import time
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from agent.config import Config, resolve_folder
from agent.errors import TouchstoneError
from agent.store.backup import BACKUPS, sweep_rooms, write_backup

log = logging.getLogger(__name__)
LOOK_EVERY_S = 60.0
"""Seconds between two looks at whether a backup is due."""


class BackupSchedule:
    """Writes a backup every BACKUP_EVERY_H hours and deletes all but the newest BACKUP_KEEP."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.folder = resolve_folder(config.BACKUP_DIR) or config.data_folder / BACKUPS
        self._stopped = threading.Event()

    def start(self) -> None:
        """Sweep, and begin where backups are switched on and the store is a file of its own."""
        for folder in (self.folder, self.config.data_folder):
            sweep_rooms(folder)
        if self.config.BACKUP_EVERY_H and not self.config.DATABASE_URL:
            threading.Thread(target=self._work, name="backups", daemon=True).start()

    def stop(self) -> None:
        """End; a backup under way is abandoned."""
        self._stopped.set()

    def write_due(self, now: float) -> Path | None:
        """Write a backup unless one was made within the interval before `now` (Unix time); returns it. Raises
        TouchstoneError or OSError, and deletes nothing then."""
        made = list_backups(self.folder)
        if any(0 <= now - at < self.config.BACKUP_EVERY_H * 3600 for _, at, _ in made):
            return None
        if ahead := [path for _, at, path in made if at > now]:
            log.warning("%s is dated in the future: check the clock. A new backup is written", ahead[-1])
        target = self.folder / name_backup(self.folder, now)
        write_backup(self.config.data_folder, target, self.folder)
        for _, _, old in list_backups(self.folder)[: -self.config.BACKUP_KEEP]:
            old.unlink(missing_ok=True)
        return target

    def _work(self) -> None:
        while not self._stopped.wait(LOOK_EVERY_S):
            try:
                if made := self.write_due(time.time()):
                    log.info("backup written: %s", made)
            except (TouchstoneError, OSError) as error:
                log.error("no backup could be written: %s", error)


def list_backups(folder: Path) -> list[tuple[int, float, Path]]:
    """The backups with a name of the program's, in the order they were made: number, Unix time, path. The
    number decides, for a clock may be wrong; those that have none came first."""
    made = []
    for path in folder.glob("touchstone-*.zip"):
        if found := re.fullmatch(r"touchstone-(?:(\d+)-)?(\d{8}T\d{6})Z\.zip", path.name):
            with suppress(ValueError):  # no such day: somebody else's file
                at = datetime.strptime(f"{found[2]}+0000", "%Y%m%dT%H%M%S%z").timestamp()
                made.append((int(found[1] or 0), at, path))
    return sorted(made)


def name_backup(folder: Path, now: float) -> str:
    """The file name of the next backup in a folder, made at `now` (Unix time)."""
    number = max((number for number, _, _ in list_backups(folder)), default=0) + 1
    return time.strftime(f"touchstone-{number:05}-%Y%m%dT%H%M%SZ.zip", time.gmtime(now))
