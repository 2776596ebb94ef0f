"""Backups at intervals, in a thread of the server; the newest few are kept."""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path

from agent.config import Config, resolve_folder
from agent.errors import TouchstoneError
from agent.store.backup import BACKUPS, write_backup

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
        """Begin, where backups are switched on and the store is a file of its own."""
        if self.config.BACKUP_EVERY_H and not self.config.DATABASE_URL:
            threading.Thread(target=self._work, name="backups", daemon=True).start()

    def stop(self) -> None:
        """End; a backup under way is abandoned."""
        self._stopped.set()

    def list_backups(self) -> list[Path]:
        """The backups of this schedule, oldest first."""
        return sorted(self.folder.glob("touchstone-" + "[0-9]" * 8 + "T" + "[0-9]" * 6 + "Z.zip"))

    def write_due(self, now: float) -> Path | None:
        """Write a backup when the newest is old enough at `now` (Unix time); returns it. Raises
        TouchstoneError or OSError, and deletes nothing then."""
        made = self.list_backups()
        if made and now - made[-1].stat().st_mtime < self.config.BACKUP_EVERY_H * 3600:
            return None
        target = self.folder / name_backup(now)
        write_backup(self.config.data_folder, target, self.folder)
        for old in self.list_backups()[: -self.config.BACKUP_KEEP]:
            old.unlink(missing_ok=True)
        return target

    def _work(self) -> None:
        while not self._stopped.wait(LOOK_EVERY_S):
            try:
                if made := self.write_due(time.time()):
                    log.info("backup written: %s", made)
            except (TouchstoneError, OSError) as error:
                log.error("no backup could be written: %s", error)


def name_backup(now: float) -> str:
    """The file name of a backup made at `now` (Unix time)."""
    return time.strftime("touchstone-%Y%m%dT%H%M%SZ.zip", time.gmtime(now))
