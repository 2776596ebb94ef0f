"""Backups: whole while others write, checked by hash, and never over what is there."""

from __future__ import annotations

import errno
import hashlib
import itertools
import json
import os
import signal
import sqlite3
import threading
import time
import zipfile
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agent.accounts.accounts import Accounts
from agent.errors import StoreError, UsageError
from agent.settings.config import read_config
from agent.store import backup
from agent.store.backup import (
    KEPT,
    MANIFEST,
    BackupSchedule,
    list_backups,
    restore_backup,
    sweep_rooms,
    verify_backup,
    write_backup,
)
from agent.store.database import Store
from agent.types import Settings, Status
from agent.workbench import Workbench
from tests.tables import by_table

pytestmark = pytest.mark.real_disk

DEMO = Settings(world="demo", mode="auto", until="review")


def make_database(path: Path, rows: int = 1) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("CREATE TABLE notes (n INTEGER)")
        database.executemany("INSERT INTO notes VALUES (?)", [(n,) for n in range(rows)])
    return path


def read_rows(path: Path) -> list[int]:
    with closing(sqlite3.connect(path)) as database:
        return [row[0] for row in database.execute("SELECT n FROM notes ORDER BY n")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder with two people in it."""
    data = tmp_path / "data"
    make_database(data / "touchstone.db", 3)
    make_database(data / "accounts.db")
    make_database(data / "people" / "p1" / "touchstone.db", 5)
    (data / "people" / "p1" / "settings.json").write_text('{"ENGINES_OFF": "arxiv"}')
    (data / "worlds").mkdir()
    (data / "worlds" / "index.db").write_text("made again")
    (data / "touchstone.db.before-m012").write_text("an older copy")
    return data


def test_all_databases_and_files_come_back_as_they_were(folder: Path, tmp_path: Path) -> None:
    made = write_backup(folder, tmp_path / "b.zip")
    expected = ["accounts.db", "people/p1/settings.json", "people/p1/touchstone.db", "touchstone.db"]
    assert [file.name for file in made.files] == expected
    assert verify_backup(tmp_path / "b.zip") == made and (tmp_path / "b.zip").stat().st_mode & 0o077 == 0
    done = restore_backup(tmp_path / "b.zip", tmp_path / "elsewhere")
    assert done.kept is None and read_rows(tmp_path / "elsewhere" / "people" / "p1" / "touchstone.db") == [
        *range(5)
    ]
    assert sorted(path.name for path in (tmp_path / "elsewhere").iterdir()) == [
        "accounts.db",
        "people",
        "touchstone.db",
    ]


def test_what_a_person_deleted_is_in_no_backup(folder: Path, tmp_path: Path) -> None:
    kept = {f"kb/{name}/kept.md" for name in ("deleted", "backups", "worlds")}
    for name in ("deleted/ann-2026/kb/secret.md", "people/p1/worlds/again.db", *kept):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("text", encoding="utf-8")
    names = {file.name for file in write_backup(folder, tmp_path / "b.zip").files}
    assert kept <= names and not [name for name in names if name.startswith("deleted/") or "again" in name]


def test_a_backup_is_whole_while_another_thread_writes(tmp_path: Path) -> None:
    path = make_database(tmp_path / "data" / "touchstone.db", 1000)
    over = threading.Event()

    def write_pairs() -> None:
        with closing(sqlite3.connect(path, timeout=30)) as database:
            n = 1000
            while not over.is_set():
                with database:
                    database.executemany("INSERT INTO notes VALUES (?)", [(n,), (n + 1,)])
                n += 2

    writer = threading.Thread(target=write_pairs)
    writer.start()
    try:
        for n in range(10):
            write_backup(path.parent, tmp_path / f"{n}.zip")
    finally:
        over.set()
        writer.join()
    for n in range(10):
        restore_backup(tmp_path / f"{n}.zip", tmp_path / f"to{n}")
        rows = read_rows(tmp_path / f"to{n}" / "touchstone.db")
        assert rows == [*range(len(rows))] and len(rows) % 2 == 0, "no half transaction"


@pytest.mark.slow
def test_a_run_goes_on_in_the_restored_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Workbench()
    run = bench.start("How many solar panels are there on the roof of Älvmora Mejeri?", DEMO)

    def back_up() -> None:
        if not (tmp_path / "b.zip").exists():
            write_backup(bench.config.data_folder, tmp_path / "b.zip")

    assert bench.drive(run, back_up) is Status.REVIEW
    told = bench.snapshot(run).state.answer.sentences[0].text
    with pytest.raises(UsageError, match="in use: stop the server"):
        restore_backup(tmp_path / "b.zip", bench.config.data_folder, force=True)
    bench.shutdown()
    restore_backup(tmp_path / "b.zip", tmp_path / "other")
    monkeypatch.setenv("TOUCHSTONE_DATA", str(tmp_path / "other"))
    again = Workbench()
    assert again.snapshot(run).run.status is Status.RUNNING
    assert again.drive(run) is Status.REVIEW
    assert again.snapshot(run).state.answer.sentences[0].text == told
    again.shutdown()


def test_a_folder_that_is_not_empty_is_replaced_only_by_force_and_kept(folder: Path, tmp_path: Path) -> None:
    write_backup(folder, tmp_path / "b.zip")
    with closing(sqlite3.connect(folder / "touchstone.db")) as database, database:
        database.execute("INSERT INTO notes VALUES (99)")
    with pytest.raises(UsageError, match=r"not empty.*--force"):
        restore_backup(tmp_path / "b.zip", folder)
    assert read_rows(folder / "touchstone.db")[-1] == 99
    done = restore_backup(tmp_path / "b.zip", folder, force=True)
    assert read_rows(folder / "touchstone.db") == [0, 1, 2]
    assert done.kept and done.kept.name.startswith(KEPT) and read_rows(done.kept / "touchstone.db")[-1] == 99
    assert write_backup(folder, tmp_path / "c.zip").files[0].name == "accounts.db"


def rewritten(source: Path, target: Path, change: dict[str, bytes]) -> Path:
    """A copy of a zip file with other contents."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            new.writestr(name, change.get(name, old.read(name)))
    return target


def test_restores_within_a_second_keep_what_was_there_twice(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backup, "utc_timestamp", lambda: "2026-11-23T05:00:00.123Z")
    write_backup(folder, tmp_path / "b.zip")
    kept = [restore_backup(tmp_path / "b.zip", folder, force=True).kept for _ in range(2)]
    assert len(set(kept)) == 2 and all((one / "touchstone.db").exists() for one in kept if one)


def test_a_changed_a_cut_and_a_foreign_file_change_nothing(folder: Path, tmp_path: Path) -> None:
    write_backup(folder, tmp_path / "b.zip")
    whole = (tmp_path / "b.zip").read_bytes()
    escaping = {"format": 1, "made_at": "", "files": [{"name": "../out.db", "sha256": "", "bytes": 0}]}
    newer = {"format": 2, "made_at": "", "files": []}
    bad = {
        "is not what was backed up": rewritten(
            tmp_path / "b.zip", tmp_path / "1.zip", {"people/p1/settings.json": b"{}"}
        ),
        "no place that a backup may fill": rewritten(
            tmp_path / "b.zip", tmp_path / "2.zip", {MANIFEST: json.dumps(escaping).encode()}
        ),
        "newer Touchstone": rewritten(
            tmp_path / "b.zip", tmp_path / "3.zip", {MANIFEST: json.dumps(newer).encode()}
        ),
        "no manifest": rewritten(tmp_path / "b.zip", tmp_path / "4.zip", {MANIFEST: b"[]"}),
        "cannot be read as a backup": tmp_path / "cut.zip",
    }
    (tmp_path / "cut.zip").write_bytes(whole[:-200])
    for told, source in bad.items():
        with pytest.raises(UsageError, match=told):
            restore_backup(source, folder, force=True)
        assert read_rows(folder / "touchstone.db") == [0, 1, 2] and not list(folder.glob(".*")), told
    assert not (tmp_path / "out.db").exists()


@pytest.mark.parametrize("damage", ["not a database", "pages"])
def test_a_damaged_database_says_what_it_is_and_how_to_restore(damage: str, tmp_path: Path) -> None:
    path = tmp_path / "touchstone.db"
    store = Store(f"sqlite:///{path}")
    store.draft("key", "text " * 40_000)
    store.close()
    data = bytearray(path.read_bytes())
    if damage == "pages":
        data[8192:] = b"\xa5" * (len(data) - 8192)
    else:
        data[:100] = b"x" * 100
    path.write_bytes(data)
    with pytest.raises(StoreError, match=r"touchstone.db is damaged .*restore FILE --force.*recover"):
        Store(f"sqlite:///{path}").draft("key")
    with pytest.raises(StoreError, match="is damaged"):
        write_backup(tmp_path, tmp_path / "b.zip")
    assert not (tmp_path / "b.zip").exists() and path.read_bytes() == data


def test_an_existing_file_and_an_empty_folder_are_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "b.zip").write_text("mine")
    with pytest.raises(UsageError, match="exists already"):
        write_backup(folder, tmp_path / "b.zip")
    with pytest.raises(UsageError, match="nothing to back up"):
        write_backup(tmp_path / "none", tmp_path / "c.zip")
    assert (tmp_path / "b.zip").read_text() == "mine"
    with pytest.raises(StoreError, match="no backup could be written"):
        write_backup(folder, tmp_path / "b.zip" / "c.zip")
    write_backup(folder, tmp_path / "d.zip")
    with pytest.raises(StoreError, match="could not be restored"):
        restore_backup(tmp_path / "d.zip", tmp_path / "b.zip" / "data")


NOON = 1_795_000_000.0
"""A day in 2026."""
YEAR = 366 * 86400.0


def make_schedule(folder: Path, keep: int) -> BackupSchedule:
    given = {"TOUCHSTONE_DATA": str(folder), "BACKUP_EVERY_H": "2", "BACKUP_KEEP": str(keep)}
    return BackupSchedule(read_config(given))


def backups_in(folder: Path) -> list[Path]:
    return [path for _, _, path in list_backups(folder)]


def test_scheduled_backups_keep_the_newest_and_a_failure_deletes_none(folder: Path) -> None:
    schedule = make_schedule(folder, 2)
    first = schedule.write_due(NOON)
    assert first and first.parent == folder / "backups"
    assert schedule.write_due(NOON + 7100) is None
    second, third = schedule.write_due(NOON + 7300), schedule.write_due(NOON + 30_000)
    assert backups_in(schedule.folder) == [second, third]
    assert "backups" not in " ".join(file.name for file in verify_backup(third).files)  # type: ignore[arg-type]
    (folder / "touchstone.db").write_bytes(b"damaged " * 100)
    with pytest.raises(StoreError):
        schedule.write_due(NOON + 60_000)
    assert backups_in(schedule.folder) == [second, third]


def test_a_backup_somebody_made_by_hand_is_never_deleted_and_never_taken_for_the_newest(folder: Path) -> None:
    schedule = make_schedule(folder, 1)
    schedule.folder.mkdir()
    names = ("touchstone-1-before-upgrade.zip", "touchstone-20360101T000000Z.zip", "touchstone-7-2026.zip")
    by_hand = [schedule.folder / name for name in names]
    for path in by_hand:
        path.write_bytes(b"mine")
    made = schedule.write_due(by_hand[0].stat().st_mtime)
    assert made and made.name.startswith("touchstone-00001-") and backups_in(schedule.folder) == [made]
    assert all(path.read_bytes() == b"mine" for path in by_hand)


def run_apart(work: Callable[[], object]) -> int:
    """Do this in a process of its own; returns how that ended."""
    if not (pid := os.fork()):
        try:
            work()
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def kill_backup(folder: Path, target: Path) -> None:
    """Write a backup in a process that is killed when it reads the first file."""

    def work() -> None:
        hashlib.file_digest = lambda *_given: os.kill(os.getpid(), signal.SIGKILL)  # type: ignore[assignment]
        os.umask(0o022)
        write_backup(folder, target)

    assert run_apart(work) == -signal.SIGKILL


@pytest.mark.parametrize("then", ["the next backup", "the next start"])
def test_what_a_killed_backup_leaves_is_private_and_swept(then: str, folder: Path) -> None:
    schedule = make_schedule(folder, 2)
    kill_backup(folder, schedule.folder / "b.zip")
    [room] = schedule.folder.iterdir()
    left = {path.name: path.stat().st_mode & 0o777 for path in room.iterdir()}
    assert room.stat().st_mode & 0o777 == 0o700 and left["copy"] == left["whole"] == 0o600
    if then == "the next backup":
        schedule.write_due(NOON)
    else:
        schedule.start()
    assert not list(folder.rglob(".*"))


def test_a_sweep_beside_takes_no_room_of_a_backup_at_work(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = hashlib.file_digest

    def sweep_first(*given: Any) -> Any:
        assert run_apart(lambda: sweep_rooms(tmp_path)) == 0
        return digest(*given)

    monkeypatch.setattr(hashlib, "file_digest", sweep_first)
    made = write_backup(folder, tmp_path / "b.zip")
    monkeypatch.undo()
    assert verify_backup(tmp_path / "b.zip") == made


def test_the_room_of_another_machine_is_swept_after_a_day(folder: Path, tmp_path: Path) -> None:
    new, old = (tmp_path / f".touchstone-room-elsewhere,1,2,{name}" for name in ("new", "old"))
    for room in (new, old):
        room.mkdir()
    os.utime(old, (time.time() - 90_000,) * 2)
    write_backup(folder, tmp_path / "b.zip")
    assert new.exists() and not old.exists()


def pack(target: Path, entries: dict[str, dict[str, Any]], files: list[str]) -> None:
    """A backup of these files, of which the main database alone is one; its manifest says this of them."""
    body = lambda name: b"" if name == "touchstone.db" else b"no database"  # noqa: E731
    listed = [
        {"name": name, "sha256": hashlib.sha256(body(name)).hexdigest(), "bytes": len(body(name)), **said}
        for name, said in entries.items()
    ]
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr(MANIFEST, json.dumps({"format": 1, "made_at": "", "files": listed}))
        for name in files:
            with suppress(UnicodeEncodeError):
                archive.writestr(name, body(name))


@by_table
def test_a_hostile_backup_moves_nothing(
    name: str, entries: dict[str, Any], files: list[str], folder: Path, tmp_path: Path
) -> None:
    (folder / "backups").mkdir()
    (folder / "backups" / "kept.zip").write_text("kept")
    pack(tmp_path / "b.zip", entries, files)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises((UsageError, StoreError)):
        restore_backup(tmp_path / "b.zip", folder, force=True)
    assert sorted(tmp_path.rglob("*")) == before and read_rows(folder / "touchstone.db") == [0, 1, 2]


@pytest.mark.parametrize("failing", range(1, 7))
def test_a_restore_whose_move_fails_moves_everything_back(
    failing: int, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_backup(folder, tmp_path / "b.zip")
    before, rename, moves = sorted(folder.rglob("*")), Path.rename, itertools.count(1)

    def rename_but_one(path: Path, target: Path) -> Path:
        if next(moves) == failing:
            raise OSError(errno.EBUSY, "mounted")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", rename_but_one)
    with pytest.raises(StoreError, match=r"mounted$"):
        restore_backup(tmp_path / "b.zip", folder, force=True)
    assert sorted(folder.rglob("*")) == before and read_rows(folder / "touchstone.db") == [0, 1, 2]


def test_a_backup_that_unpacks_to_more_than_the_disk_holds_is_refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_backup(folder, tmp_path / "b.zip")
    monkeypatch.setattr(backup.shutil, "disk_usage", lambda path: SimpleNamespace(free=1000))
    with pytest.raises(UsageError, match="has room for 0 MB"):
        restore_backup(tmp_path / "b.zip", tmp_path / "elsewhere")
    assert not (tmp_path / "elsewhere").exists()


def kill_restore(source: Path, folder: Path, after: int) -> None:
    """Restore in a process that is killed after so many moves."""
    rename, moves = Path.rename, itertools.count(1)

    def move(path: Path, target: Path) -> Path:
        made = rename(path, target)
        if next(moves) == after:
            os.kill(os.getpid(), signal.SIGKILL)
        return made

    def work() -> None:
        Path.rename = move  # type: ignore[method-assign, assignment]
        restore_backup(source, folder, force=True)

    assert run_apart(work) == -signal.SIGKILL


@pytest.mark.parametrize("after", range(2, 8))
def test_a_killed_restore_opens_nothing_until_it_is_finished(
    after: int, folder: Path, tmp_path: Path
) -> None:
    write_backup(folder, tmp_path / "b.zip")
    with closing(sqlite3.connect(folder / "touchstone.db")) as database, database:
        database.execute("INSERT INTO notes VALUES (99)")
    (folder / "people").rename(folder / "others")  # what the backup does not have, and lacks what it has
    expected = {"accounts.db", "people", "touchstone.db"}
    kill_restore(tmp_path / "b.zip", folder, after)
    config = read_config({"TOUCHSTONE_DATA": str(folder)})
    for opened in (lambda: config.database_url, lambda: config.saved, lambda: Accounts(config)):
        with pytest.raises(UsageError, match=r"not finished: run `./touchstone restore FILE --force` again"):
            opened()
    kept = restore_backup(tmp_path / "b.zip", folder, force=True).kept
    assert kept and {path.name for path in folder.iterdir()} == {*expected, kept.name}
    assert {path.name for path in kept.iterdir()} == {"accounts.db", "others", "touchstone.db", "worlds"} | {
        "touchstone.db.before-m012"
    }
    assert read_rows(kept / "touchstone.db")[-1] == 99 and read_rows(folder / "touchstone.db") == [0, 1, 2]
    assert config.data_folder == folder


def test_a_second_restore_that_fails_keeps_the_mark_of_the_first(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_backup(folder, tmp_path / "b.zip")
    kill_restore(tmp_path / "b.zip", folder, 4)
    before = sorted(folder.glob("[!.]*"))
    rename, moves = Path.rename, itertools.count(1)

    def rename_but_one(path: Path, target: Path) -> Path:
        if next(moves) == 4:
            raise OSError(errno.EBUSY, "mounted")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", rename_but_one)
    with pytest.raises(StoreError, match="mounted"):
        restore_backup(tmp_path / "b.zip", folder, force=True)
    monkeypatch.undo()
    assert sorted(folder.glob("*")) == before
    with pytest.raises(UsageError, match="not finished"):
        Workbench(read_config({"TOUCHSTONE_DATA": str(folder)}))


def test_a_backup_packed_in_another_way_is_told_in_a_sentence(tmp_path: Path) -> None:
    content = os.urandom(3000)
    listed = {"name": "settings.json", "sha256": hashlib.sha256(content).hexdigest(), "bytes": 3000}
    with zipfile.ZipFile(tmp_path / "b.zip", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("settings.json", content)
        archive.writestr(MANIFEST, json.dumps({"format": 1, "made_at": "", "files": [listed]}))
    damaged = bytearray((tmp_path / "b.zip").read_bytes())
    damaged[80:2500:7] = bytes(byte ^ 255 for byte in damaged[80:2500:7])
    (tmp_path / "b.zip").write_bytes(damaged)
    with pytest.raises(UsageError, match="cannot be read as a backup"):
        verify_backup(tmp_path / "b.zip")
