"""Backups of a data folder: one zip file with every database, the saved settings and all other files, each
with its SHA-256 in a manifest.

Databases are copied by SQLite (VACUUM INTO) while a server writes to them. What can be made again is left
out (`worlds/`), and so are older backups and what people deleted. A server makes backups at intervals."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import sqlite3
import tempfile
import threading
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import count
from pathlib import Path, PurePath, PurePosixPath
from typing import Any

from pydantic import BaseModel

from agent.errors import NotFound, StoreError, TouchstoneError, UsageError
from agent.settings.config import UNFINISHED, Config, resolve_folder
from agent.store.bodies import REFERENCE, Bodies
from agent.store.ledger import is_owner_gone, new_owner_id, utc_timestamp
from agent.text.plurals import clip

FORMAT = 1
MANIFEST = "manifest.json"
BACKUPS = "backups"
"""The folder of scheduled backups, in the data folder."""
KEPT = "before-restore-"
"""What was there before a restore lies in a folder whose name begins so."""
BIN = "deleted"
"""The folder in the data folder of what people deleted: a backup would bring it back."""
_ROOM = ".touchstone-room-"
"""Folders in which backups and restores are prepared are named so, with the process behind it."""
PRIVATE = 0o600
"""What is copied may be read by its owner alone."""
LOOK_EVERY_S, ABANDONED_S = 60.0, 86_400.0
"""Seconds between two looks at whether a backup is due, and until a room of an unknown process is swept."""
log = logging.getLogger(__name__)
MAX_MANIFEST_BYTES = 64_000_000
"""Some 300,000 files at 200 bytes each."""


class BackupFile(BaseModel):
    """A file of a backup: its path in the data folder, and what it must hold."""

    name: str
    sha256: str
    bytes: int


class Manifest(BaseModel):
    """What a backup holds. `made_at`: ISO 8601, UTC."""

    format: int
    made_at: str
    files: list[BackupFile]


@dataclass(frozen=True)
class Restored:
    """What a restore did; `kept`: where the former content lies now, None when there was none."""

    manifest: Manifest
    kept: Path | None


def write_backup(
    folder: Path, target: Path, skipped: Path | None = None, *, stores: Path | None = None, bodies: str = ""
) -> Manifest:
    """Write a backup of a data folder, with the stores of the folder `stores` if given, to `target`, which
    appears when it is whole; `skipped` is left out, bodies at the address `bodies` are listed. Raises
    UsageError (the file exists, nothing to keep) and StoreError (a damaged database)."""
    if target.exists():
        raise UsageError(f"{target} exists already: name another file")
    sources = {path.relative_to(folder): path for path in _list_files(folder, skipped)}
    if stores:
        sources = {name: path for name, path in sources.items() if not is_store(name)}
        sources |= {path.relative_to(stores): path for path in _list_files(stores, None)}
    if not sources:
        raise UsageError(f"{folder} holds nothing yet: there is nothing to back up")
    listed = "DISTINCT CAST(substr(raw, ?1) AS TEXT) FROM pages WHERE substr(raw, 1, ?1 - 1) = ?2 ORDER BY 1"
    files, outside = [], list[str]()
    try:
        with make_room(target.parent) as room:
            whole = room / "whole"
            whole.touch(mode=PRIVATE)
            with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as archive:
                for path, source in [*sorted(sources.items()), (Path("bodies.csv"), None)]:
                    (copy := room / "copy").touch(mode=PRIVATE)
                    if source is None:
                        if not outside:
                            break
                        copy.write_text("".join(["owner,sha256,bytes\n", *outside]))
                    elif source.suffix == ".db":
                        copy_database(source, copy)
                    else:
                        shutil.copyfile(source, copy)
                    if is_store(path):
                        owner = path.parent.name or "server"
                        held = _read_pages(copy, listed, len(REFERENCE) + 1, REFERENCE)
                        sizes = Bodies(bodies, owner).list_sizes() if held else {}
                        outside += [f"{owner},{digest},{sizes.get(digest, '')}\n" for (digest,) in held]
                    name = path.as_posix()
                    files.append(BackupFile(name=name, sha256=_hash_file(copy), bytes=copy.stat().st_size))
                    archive.write(copy, name)
                    copy.unlink()
                manifest = Manifest(format=FORMAT, made_at=utc_timestamp(), files=files)
                undated = zipfile.ZipInfo(MANIFEST)  # no zip file can hold every year a clock may say
                archive.writestr(undated, manifest.model_dump_json(indent=1), zipfile.ZIP_DEFLATED)
            whole.replace(target)
    except OSError as error:
        raise StoreError(f"no backup could be written to {target}: {error}") from error
    return manifest


def restore_backup(source: Path, folder: Path, *, force: bool = False) -> Restored:
    """Bring back a backup in a data folder, each file checked by its hash before anything changes. With
    `force` what the folder held is moved into one beside the new content. Until all is moved that is named
    UNFINISHED, so that nothing opens the data; the next restore finishes one that was killed. Raises
    UsageError, and nothing was changed, for a damaged backup, a folder that is not empty or in use."""
    there = [path for path in sorted(folder.glob("*")) if _is_replaced(path)]
    if there and not force:
        raise UsageError(
            f"{folder} is not empty: restore into another folder (--into), or use --force, which keeps what "
            "is there beside it"
        )
    for database in (path for path in _list_files(folder, None) if path.suffix == ".db"):
        check_unused(database)
    former, is_new = folder / UNFINISHED, not folder.exists()
    try:
        with make_room(folder) as room, ExitStack() as undo:
            manifest = _extract(source, room / "all")
            for path in (room / "all" / file.name for file in manifest.files if file.name.endswith(".db")):
                with closing(sqlite3.connect(path)) as restored:
                    has_runs = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'runs'"
                    if restored.execute(has_runs).fetchone():  # any process may go on with them
                        with restored:
                            restored.execute("UPDATE runs SET owner = '', lease_until = 0")
            is_half = any((former / path.name).exists() for path in there)  # they are of a killed restore
            aside = room / "half" if is_half else former
            new = [*(room / "all").glob("*")]  # first what tells, after a kill, that what was there is moved
            new.sort(key=lambda path: not any((old / path.name).exists() for old in (folder, former)))
            undo.callback(_remove_empty, former)
            for made in (former, aside):
                made.mkdir(mode=0o700, exist_ok=True)
            os.sync()
            for path, goes in [*((path, aside) for path in there), *((path, folder) for path in new)]:
                path.rename(goes / path.name)
                undo.callback((goes / path.name).rename, path)
            os.sync()
            name = f"{KEPT}{utc_timestamp()[:19].replace(':', '')}"
            kept = former.rename(find_free_name(folder / name)) if any(former.iterdir()) else None
            undo.pop_all()
            _remove_empty(former)
    except (OSError, sqlite3.Error) as error:
        where = f"; what was there before is in {former}" if former.exists() else ""
        raise StoreError(f"{source} could not be restored in {folder}: {error}{where}") from error
    finally:
        if is_new:
            _remove_empty(folder)
    return Restored(manifest, kept)


def verify_backup(source: Path, *, bodies: str = "", most: int = 0) -> Manifest:
    """What a backup holds, every file checked, and in each store the bodies of at most `most` pages, chosen
    by chance. Raises UsageError for a damaged one, StoreError where the place of bodies does not answer."""
    with tempfile.TemporaryDirectory() as room:
        manifest = _extract(source, Path(room) / "all")
        for path in (Path(file.name) for file in manifest.files):
            drawn = "id, raw FROM pages WHERE raw IS NOT NULL ORDER BY random() LIMIT ?"
            rows = _read_pages(Path(room) / "all" / path, drawn, most) if is_store(path) else []
            held = Bodies(bodies if rows else "", path.parent.name or "server")
            for page_id, raw in rows:
                try:
                    held.unpack(raw)
                except (NotFound, zlib.error) as error:
                    raise UsageError(f"the body of page {page_id} in {path}: {error}") from error
        return manifest


def is_store(path: PurePath) -> bool:
    """Whether a store, or the accounts, have this path in a data folder."""
    is_personal = (path.name, path.parent.parent) == ("touchstone.db", PurePath("people"))
    return is_personal or path.as_posix() in ("touchstone.db", "accounts.db")


def _read_pages(store: Path, query: str, *values: object) -> list[Any]:
    """What a query tells of the pages of a store; nothing where it holds none."""
    with closing(sqlite3.connect(store)) as database:
        if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'pages'").fetchone():
            return []
        return database.execute(f"SELECT {query}", values).fetchall()


def sweep_rooms(folder: Path) -> None:
    """Delete what killed backups and restores left in a folder: the rooms of processes that are gone, and of
    those of other machines (a container has a new name each time) what is a day old."""
    for room in folder.glob(f"{_ROOM}*"):
        is_gone = is_owner_gone(room.name.removeprefix(_ROOM).replace(",", "|"))
        with suppress(FileNotFoundError):
            if is_gone or time.time() - room.stat().st_mtime > ABANDONED_S:
                shutil.rmtree(room, ignore_errors=True)


@contextmanager
def make_room(folder: Path) -> Iterator[Path]:
    """A private folder, gone at the end."""
    folder.mkdir(parents=True, exist_ok=True)
    sweep_rooms(folder)
    owner = new_owner_id().replace("|", ",")
    with tempfile.TemporaryDirectory(prefix=f"{_ROOM}{owner}", dir=folder) as name:
        yield Path(name)


def find_free_name(path: Path) -> Path:
    """The path, with a number where there is one of its name."""
    names = (path.with_name(f"{path.name}-{n}" if n > 1 else path.name) for n in count(1))
    return next(one for one in names if not one.exists())


def _list_files(folder: Path, skipped: Path | None) -> Iterator[Path]:
    for path in folder.rglob("*"):
        top = path.relative_to(folder).parts
        is_left_out = (
            top[0] in (BACKUPS, BIN, "bodies.csv")
            or (top[2:] if top[0] == "people" else top)[:1] == ("worlds",)
            or any(part.startswith((KEPT, _ROOM)) for part in top)
            or path.name.endswith(("-wal", "-shm", "-journal", ".part"))
            or ".db.before-" in path.name
            or (skipped and path.is_relative_to(skipped))
        )
        if path.is_file() and not path.is_symlink() and not is_left_out:
            yield path


def _remove_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()


def _is_replaced(path: Path) -> bool:
    """Whether a restore moves this top folder or file, and may bring it."""
    return path.name != BACKUPS and not path.name.startswith((KEPT, _ROOM))


def copy_database(source: Path, target: Path) -> None:
    """A whole copy of a database that others may be writing to, by SQLite: reading its file by other means
    would release its locks, and the next process to end would remove its log. Raises StoreError."""
    address = f"{source.absolute().as_uri()}?mode=rw"
    try:
        with closing(sqlite3.connect(address, uri=True, timeout=10)) as database:
            database.execute("VACUUM INTO ?", (str(target),))
    except sqlite3.Error as error:
        raise StoreError(describe_fault(error, str(source))) from error


def describe_fault(error: BaseException | None, path: str) -> str:
    """What is wrong with a database, and what to do, as a sentence."""
    if getattr(error, "sqlite_errorname", "").startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return (
            f"the database {path} is damaged ({error}); nothing was changed. Stop the server and bring back "
            "a backup: `./touchstone restore FILE --force` keeps the damaged one beside it. Without a "
            f"backup, `sqlite3 {path} .recover` saves what can still be read"
        )
    return f"the database could not be used ({error}); check its disk has room and no other program holds it"


def check_unused(path: Path) -> None:
    """Raises UsageError when a process has this database open; a damaged one counts as unused."""
    try:
        with closing(sqlite3.connect(path, timeout=0)) as database:
            database.execute("PRAGMA journal_mode=DELETE")  # needs to be alone
    except sqlite3.OperationalError as error:
        if error.sqlite_errorname.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            raise UsageError(f"{path} is in use: stop the server first. Nothing was changed") from None
    except sqlite3.DatabaseError:
        return


def _extract(source: Path, room: Path) -> Manifest:
    """Write all files of a backup below `room`, checked. Raises UsageError."""
    try:
        with zipfile.ZipFile(source) as archive:
            if any(one.compress_type not in (0, zipfile.ZIP_DEFLATED) for one in archive.infolist()):
                raise ValueError("`backup` packs in another way")
            try:
                if archive.getinfo(MANIFEST).file_size > MAX_MANIFEST_BYTES:
                    raise ValueError("no manifest is as large")
                manifest = Manifest.model_validate_json(archive.read(MANIFEST))
            except (ValueError, KeyError):
                raise UsageError(f"{source} is no backup of Touchstone: it has no manifest") from None
            if manifest.format != FORMAT:
                raise UsageError(f"{source} was written by a newer Touchstone: update this one first")
            for file in manifest.files:
                path = PurePosixPath(file.name)
                is_outside = path.is_absolute() or ".." in path.parts or "\\" in file.name or ":" in file.name
                if is_outside or not path.parts or not _is_replaced(Path(path.parts[0])):
                    what = f"{clip(file.name)!r} is no place that a backup may fill"
                    raise UsageError(f"{source}: {what}. Nothing was changed")
            needed = sum(archive.getinfo(file.name).file_size for file in manifest.files)
            if needed > (free := shutil.disk_usage(room.parent).free):
                sizes = f"{needed / 1e6:,.0f} MB, and {room.parent} has room for {free / 1e6:,.0f} MB"
                raise UsageError(f"the backup unpacks to {sizes}")
            for file in manifest.files:
                target = room / file.name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.touch(mode=PRIVATE)
                with archive.open(file.name) as packed, target.open("wb") as plain:
                    shutil.copyfileobj(packed, plain)
                if (target.stat().st_size, _hash_file(target)) != (file.bytes, file.sha256):
                    raise UsageError(f"{source}: {file.name} is not what was backed up. Nothing was changed")
            return manifest
    except (OSError, zipfile.BadZipFile, zlib.error, KeyError, EOFError, RuntimeError, ValueError) as error:
        raise UsageError(f"{source} cannot be read as a backup ({error}). Nothing was changed") from error


def _hash_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class BackupSchedule:
    """Writes a backup every BACKUP_EVERY_H hours and deletes all but the newest BACKUP_KEEP."""

    def __init__(self, config: Config, write: Callable[[Path, Path], object] | None = None) -> None:
        self.config = config
        self._write = write or partial(write_backup, config.data_folder)
        self.folder = resolve_folder(config.BACKUP_DIR) or config.data_folder / BACKUPS
        self._stopped = threading.Event()

    def start(self) -> None:
        """Sweep, and begin where backups are switched on."""
        for folder in (self.folder, self.config.data_folder):
            sweep_rooms(folder)
        if self.config.BACKUP_EVERY_H and (self.config.has_server_store or not self.config.DATABASE_URL):
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
        self._write(target, self.folder)
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
    number decides, for a clock may be wrong."""
    made = []
    for path in folder.glob("touchstone-*.zip"):
        with suppress(ValueError):  # another name: somebody else's file
            _, number, at = path.stem.split("-")
            made.append((int(number), datetime.strptime(f"{at}+0000", "%Y%m%dT%H%M%SZ%z").timestamp(), path))
    return sorted(made)


def name_backup(folder: Path, now: float) -> str:
    """The file name of the next backup in a folder, made at `now` (Unix time)."""
    number = max((number for number, _, _ in list_backups(folder)), default=0) + 1
    return time.strftime(f"touchstone-{number:05}-%Y%m%dT%H%M%SZ.zip", time.gmtime(now))
