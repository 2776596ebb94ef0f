"""Stores moved between a data folder and PostgreSQL, killed in the middle, backed up while others write, and
brought back."""

from __future__ import annotations

import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, func, make_url, select, text

from agent.accounts.accounts import Accounts
from agent.accounts.moves import StorePlace, back_up, move_stores
from agent.accounts.people import LOCAL
from agent.actions.export import export_run
from agent.cli import upkeep
from agent.cli.main import main
from agent.errors import StoreError, StoreTooNew, UsageError
from agent.settings.config import read_config
from agent.store import tables
from agent.store.backup import BackupSchedule
from agent.store.bodies import Bodies
from agent.store.database import Store
from agent.store.migrations import migrate
from agent.types import BatchBudget, BatchRow, Settings, Status
from agent.workbench import Workbench
from tests import postgres
from tests.agent.store.test_pages import seen
from tests.conftest import create_postgres

pytestmark = pytest.mark.slow

PERSON = "people/p1/touchstone.db"
TABLES = [table for table in tables.metadata.sorted_tables if table.name != "migrations"]
EXPORTS = ["md", "evidence.md", "json", "csv", "pages.csv"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A data folder with a run of the demo, a library with vectors, a draft, a batch, a token, and the store of a
    person who deleted a source. Nothing has it open."""
    folder = tmp_path_factory.mktemp("made") / "data"
    bench = Workbench(make_config(folder))
    bench.drive(
        bench.start("Who first climbed Korpnäbben, and when?", Settings(world="demo", model="keyless"))
    )
    for name in ("herons", "storks"):
        bench.library.add_file(f"{name}.md", f"# Birds\n\nThe {name} nest in tall trees.".encode())
    store = bench.store
    store.vectors.add(store.vectors.get_or_create_embedder("m", 2), [(n, bytes([n, 0, 255])) for n in (1, 2)])
    store.draft("new", "an unsent question with \U0001f985 and é")
    row = BatchRow(n=1, question="How high?", given={"name": "Korpnäbben"})
    store.batches.create("b", Settings(), BatchBudget(), ["name"], [row])
    bench.shutdown()
    accounts = Accounts(make_config(folder))
    accounts.tokens.create(LOCAL, "program", ("read",))
    accounts.close()
    personal = Workbench(make_config(folder / "people" / "p1"))
    personal.library.add_file("mine.md", b"Mine, and only mine.")
    personal.library.delete(personal.library.add_file("gone.md", b"Deleted.").source_id)
    personal.library.empty_bin()
    personal.shutdown()
    yield folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return shutil.copytree(made, tmp_path / "data")


@pytest.fixture
def database() -> Iterator[str]:
    yield from create_postgres(is_empty=True)


def make_config(folder: Path, **more: str) -> Any:
    return read_config({"TOUCHSTONE_DATA": str(folder), **more})


def move(source: Path | str, target: Path | str, tell: Any = str) -> list[str]:
    settle(source, target)
    return move_stores(StorePlace(str(source)), StorePlace(str(target)), tell)


def settle(*places: Path | str) -> None:
    """Wait until the connections to these databases are gone that were closed just now."""
    engine = create_engine(postgres.find_server(), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for name in (make_url(str(place)).database for place in places if "://" in str(place)):
            there = text("SELECT count(*) FROM pg_stat_activity WHERE datname = :name")
            while connection.scalar(there, {"name": name}):
                time.sleep(0.01)
    engine.dispose()


def read_rows(file: Path) -> dict[str, list[tuple]]:
    """Every row of every table of a file, as SQLite gives it, also of the full-text index."""
    with closing(sqlite3.connect(file)) as database:
        names = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        kept = [
            name
            for name in names
            if name != "migrations" and not name.startswith(("library_words", "sqlite_"))
        ]
        rows = {name: sorted(database.execute(f"SELECT * FROM {name}"), key=repr) for name in kept}
        if "passages" in names:
            for passage, head, body in database.execute("SELECT rowid, head, body FROM library_words"):
                rows.setdefault("words", []).append((passage, sorted(head.split()), sorted(body.split())))
    return rows


def look(config: Any) -> list[object]:
    """What a workbench shows of its runs and its library."""
    bench = Workbench(config)
    told: list[object] = [bench.store.draft("new"), [b.name for b in bench.store.batches.list_newest()]]
    for run in bench.runs():
        told += [export_run(bench, run.id, name) for name in EXPORTS]
    told.append([(hit.source_id, hit.text) for hit in bench.library.search("Where do herons nest?").hits])
    bench.shutdown()
    return told


def test_all_stores_move_there_and_back_and_show_the_same(folder: Path, database: str, tmp_path: Path):
    with closing(sqlite3.connect(folder / "touchstone.db")) as held, held:
        held.execute("UPDATE runs SET owner = 'elsewhere|1|1', lease_until = 9e9")
    told: list[str] = []
    paths = move(folder, database, told.append)
    assert {*paths} == {"touchstone.db", "accounts.db", PERSON}
    for path in paths:
        number = sum(len(rows) for name, rows in read_rows(folder / path).items() if name != "words")
        assert f"{path}: {number:,} rows copied" in told
    back = tmp_path / "back"
    move(database, back)
    with closing(sqlite3.connect(folder / "touchstone.db")) as held, held:
        held.execute("UPDATE runs SET owner = '', lease_until = 0")
    for path in paths:
        assert read_rows(back / path) == read_rows(folder / path)
    here, there = make_config(folder), make_config(tmp_path / "else", DATABASE_URL=database)
    shown = look(here)
    assert shown == look(there) and b"Korpn\xc3\xa4bben" in shown[2] and shown[-1]
    accounts = Accounts(there)
    assert [token.name for token in accounts.tokens.list(LOCAL)] == ["program"]
    accounts.close()


def test_after_a_move_rows_get_new_numbers_and_runs_at_work_go_on(
    folder: Path, database: str, tmp_path: Path
):
    bench = Workbench(make_config(folder))
    run = bench.start("Who first climbed Korpnäbben, and when?", Settings(world="demo", model="keyless"))
    bench.shutdown()
    move(folder, database)
    bench = Workbench(make_config(tmp_path / "else", DATABASE_URL=database))
    source = bench.library.add_file("new.md", b"A new text on ospreys.").source_id
    assert [hit.source_id for hit in bench.library.search("ospreys").hits] == [source]
    bench.start_workers()
    while bench.snapshot(run).run.status is Status.RUNNING:
        time.sleep(0.05)
    assert bench.snapshot(run).run.status is Status.REVIEW
    bench.shutdown()


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A data folder with a draft."""
    store = Store(f"sqlite:///{tmp_path / 'small' / 'touchstone.db'}")
    store.draft("a", "before\x00after")
    store.close()
    return tmp_path / "small"


def test_text_with_nul_is_told_and_no_difference(small: Path, database: str, tmp_path: Path):
    told: list[str] = []
    move(small, database, told.append)
    move(database, tmp_path / "back", told.append)
    left = ", NUL left out in 1 of them: PostgreSQL does not keep it"
    assert told == [f"touchstone.db: 1 rows copied{left}", "touchstone.db: 1 rows copied"]
    store = Store(f"sqlite:///{tmp_path / 'back' / 'touchstone.db'}")
    assert store.draft("a") == "beforeafter"
    store.close()


KILLED = """
import os, signal, sys
from agent.accounts.moves import StorePlace, back_up, move_stores
from agent.store import table_copy
from agent.store.table_access import Writer
table_copy.PART_ROWS = 2
begin, left = Writer.begin, int(sys.argv[3])
def count(self):
    global left
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
    return begin(self)
Writer.begin = count
move_stores(StorePlace(sys.argv[1]), StorePlace(sys.argv[2]), print)
"""


def test_a_killed_move_is_opened_by_nobody_and_goes_on(folder: Path, database: str, small: Path):
    counts = []
    for transactions in (18, 35):
        command = [sys.executable, "-c", KILLED, folder, database, str(transactions)]
        settle(database)
        assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
        with StorePlace(database).open("touchstone.db", by_move=True) as (writer, _):
            with pytest.raises(
                StoreError, match=r"move from .* is not finished: give `./touchstone move-store`"
            ):
                migrate(writer)
            with writer.engine.connect() as connection:
                counts.append([connection.scalar(select(func.count()).select_from(one)) for one in TABLES])
    assert 0 < sum(counts[0]) < sum(counts[1])
    with pytest.raises(UsageError, match=r"a move from .* that is not finished: name an empty"):
        move(small, database)
    assert len(move(folder, database)) == 3
    Store(database).close()


def test_a_difference_is_told_and_mended_by_the_same_command(
    small: Path, database: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def falsify(_: object) -> None:
        engine = create_engine(database)
        with engine.begin() as connection:
            connection.execute(text("UPDATE drafts SET text = 'other' WHERE key = 'a'"))
            connection.execute(text("INSERT INTO drafts VALUES ('b', 'more', '') ON CONFLICT DO NOTHING"))
        engine.dispose()

    with monkeypatch.context() as patched:
        patched.setattr(upkeep, "write_stderr", falsify)
        assert main(["move-store", str(small), database]) == 1
    told = capsys.readouterr().err
    assert "differs, and nothing opens it" in told and "touchstone.db: drafts: 2 rows, the first a" in told
    settle(database)
    assert main(["move-store", str(small), database]) == 0
    assert "1 stores, every row compared" in capsys.readouterr().out
    store = Store(database)
    assert store.drafts.all() == {"a": "beforeafter"}
    store.close()


def test_what_cannot_be_moved_is_refused_and_nothing_changes(small: Path, database: str, tmp_path: Path):
    def refuse(source: object, target: str, why: str, error: type = UsageError) -> None:
        with pytest.raises(error, match=why):
            move_stores(StorePlace(str(source)), StorePlace(target), str)

    refuse(tmp_path / "absent", database, "holds no store")
    refuse(small, "mysql://u@h/n", "neither a data folder nor")
    refuse(small, database.replace("touchstone_test", "absent"), "does not exist", StoreError)
    held = Store(f"sqlite:///{small / 'touchstone.db'}")
    refuse(small, database, "is in use: stop the server first")
    held.close()
    guest = create_engine(database)
    with guest.connect() as connection:
        connection.execute(text("SELECT 1"))
        refuse(small, database, "1 other connections use .*: stop servers")
    guest.dispose()
    settle(database)
    store = Store(database)
    store.draft("new", "somebody's")
    store.close()
    settle(database)
    refuse(small, database, r"holds stores already \(touchstone.db\): name an empty")
    assert store.draft("new") == "somebody's" and store.draft("a") == ""
    with store.writer.begin() as connection:
        connection.execute(text("INSERT INTO migrations VALUES ('m999', '')"))
    store.close()
    settle(database)
    refuse(small, database, "newer Touchstone", StoreTooNew)
    with closing(sqlite3.connect(small / "touchstone.db")) as sqlite:
        assert sqlite.execute("SELECT key FROM drafts").fetchall() == [("a",)]


def test_a_backup_of_a_database_is_of_one_moment_and_comes_back_in_both_places(
    folder: Path, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
):
    move(folder, database)
    data = tmp_path / "files"
    (data / "kb").mkdir(parents=True)
    (data / "kb" / "a.md").write_text("A file.")
    shutil.copyfile(folder / "touchstone.db", data / "touchstone.db")  # what was moved long ago
    monkeypatch.setenv("TOUCHSTONE_DATA", str(data))
    monkeypatch.setenv("DATABASE_URL", database)
    over, store, pairs = threading.Event(), Store(database), []

    def write_pairs() -> None:
        while not over.is_set():
            pairs.append(f"pair {len(pairs)}")
            with store.writer.begin() as connection:
                for table in (tables.drafts, tables.webhooks):
                    connection.execute(table.insert().values([pairs[-1], "{}", ""]))

    writer = threading.Thread(target=write_pairs)
    writer.start()
    try:
        file = BackupSchedule(read_config(), partial(back_up, read_config())).write_due(1.8e9)
    finally:
        over.set()
        writer.join()
    store.close()
    assert main(["restore", str(file), "--check"]) == 0
    assert "so are up to 100 page bodies" in capsys.readouterr().out
    assert main(["restore", str(file), "--into", str(tmp_path / "into")]) == 0
    assert (tmp_path / "into" / "kb" / "a.md").read_text() == "A file."
    before, rows = (read_rows(place / "touchstone.db") for place in (folder, tmp_path / "into"))
    written = [row[0] for row in rows["webhooks"]]
    assert sorted(written) == sorted(key for key, *_ in rows["drafts"] if key.startswith("pair"))
    assert len(written) < len(pairs), "it ends while others write"
    for name in {*before} - {"drafts", "webhooks"}:
        assert rows[name] == before[name]
    for other in create_postgres(is_empty=True):
        monkeypatch.setenv("DATABASE_URL", other)
        assert main(["restore", str(file)]) == 2 and "--force" in capsys.readouterr().err
        settle(other)
        assert main(["restore", str(file), "--force"]) == 0
        assert not (data / "touchstone.db").exists() and (data / "kb" / "a.md").exists()
        settle(other)
        assert (
            main(["restore", str(file), "--force"]) == 2 and "holds stores already" in capsys.readouterr().err
        )
        move(other, tmp_path / "again")
        for path in ("touchstone.db", "accounts.db", PERSON):
            assert read_rows(tmp_path / "again" / path) == read_rows(tmp_path / "into" / path)


def test_a_backup_lists_bodies_elsewhere_and_its_check_reads_them(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("DATABASE_URL", database)
    monkeypatch.setenv("BODIES_URL", (tmp_path / "disk").as_uri())
    store = Store(database, Bodies((tmp_path / "disk").as_uri()))
    for n in range(2):
        store.pages.put(seen(f"Page {n}", f"https://a.example/{n}", raw=b"<p>" * (n + 1)))
    store.close()
    file = str(tmp_path / "b.zip")
    assert main(["backup", file]) == 0
    places = sorted(path for path in (tmp_path / "disk").rglob("*") if len(path.name) == 64)
    with zipfile.ZipFile(file) as archive:
        assert archive.read("bodies.csv").decode().splitlines() == [
            "owner,sha256,bytes",
            *(f"server,{place.name},{place.stat().st_size}" for place in places),
        ]
    assert main(["restore", file, "--check"]) == 0 and "up to 100 page bodies" in capsys.readouterr().out
    body = bytearray(places[0].read_bytes())
    body[-1] ^= 1
    places[0].write_bytes(body)
    assert main(["restore", file, "--check"]) == 2
    assert f"in touchstone.db: the body {places[0].name} is gone" in capsys.readouterr().err
    places[0].unlink()
    assert main(["restore", file, "--check"]) == 2
    assert main(["restore", file, "--into", str(tmp_path / "into")]) == 0
