"""How the database changes its shape: in order, once, with a copy before, and never downwards."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading

import pytest
from sqlalchemy import Connection

from agent.errors import StoreTooNew
from agent.store import migrations
from agent.store.database import Store
from agent.types import Settings, Step
from tests.records import fill

pytestmark = pytest.mark.real_disk


def m900_colour(connection: Connection) -> None:
    connection.exec_driver_sql("ALTER TABLE runs ADD COLUMN colour VARCHAR(9) NOT NULL DEFAULT 'green'")


def m901_broken(connection: Connection) -> None:
    connection.exec_driver_sql("ALTER TABLE runs ADD COLUMN shade VARCHAR(9)")
    raise RuntimeError("power cut")


def filled(path) -> str:
    store = Store(f"sqlite:///{path}")
    run_id = store.ledger.create("who?", Settings(), fill(Step, name="ask", change={}, next="decide"))
    store.close()
    return run_id


def columns(path) -> set[str]:
    with sqlite3.connect(path) as connection:
        return {row[1] for row in connection.execute("PRAGMA table_info(runs)")}


def test_an_upgrade_copies_the_file_first_and_keeps_the_runs(tmp_path, monkeypatch):
    run_id = filled(tmp_path / "t.db")
    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, m900_colour))
    store = Store(f"sqlite:///{tmp_path / 't.db'}")
    assert store.ledger.get(run_id).question == "who?"
    store.close()
    copy = tmp_path / "t.db.before-m900_colour"
    assert "colour" in columns(tmp_path / "t.db") and "colour" not in columns(copy)
    with sqlite3.connect(copy) as connection:
        assert connection.execute("SELECT question FROM runs").fetchall() == [("who?",)], (
            "the copy holds what was still in the log"
        )
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


OTHER = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('UPDATE runs SET question = ?', (sys.argv[2],)); c.commit(); c.close()"


def test_a_program_that_upgraded_keeps_its_hold_on_the_file(tmp_path, monkeypatch):
    """A copy made by opening the file beside SQLite lets go of its locks: the next program to end then takes
    the log away under us."""
    run_id = filled(tmp_path / "t.db")
    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, m900_colour))
    store = Store(f"sqlite:///{tmp_path / 't.db'}")
    assert store.ledger.get(run_id).question == "who?"
    for asked in ("who else?", "and who?"):
        subprocess.run([sys.executable, "-c", OTHER, str(tmp_path / "t.db"), asked], check=True)
        assert (tmp_path / "t.db-wal").is_file(), "the log is still ours"
        assert store.ledger.get(run_id).question == asked
    store.close()


def test_rivals_upgrade_it_once(tmp_path, monkeypatch):
    filled(tmp_path / "t.db")
    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, m900_colour))
    failed: list[BaseException] = []

    def rival() -> None:
        try:
            Store(f"sqlite:///{tmp_path / 't.db'}").close()
        except Exception as trouble:
            failed.append(trouble)

    threads = [threading.Thread(target=rival) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed and "colour" in columns(tmp_path / "t.db")


def test_an_upgrade_that_breaks_leaves_the_old_shape(tmp_path, monkeypatch):
    run_id = filled(tmp_path / "t.db")
    with monkeypatch.context() as patched:
        patched.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, m901_broken))
        with pytest.raises(RuntimeError):
            Store(f"sqlite:///{tmp_path / 't.db'}")
    assert "shade" not in columns(tmp_path / "t.db"), "one transaction a migration"
    store = Store(f"sqlite:///{tmp_path / 't.db'}")
    assert store.ledger.get(run_id).question == "who?"
    store.close()


def test_a_newer_database_is_refused_and_left_alone(tmp_path, monkeypatch):
    filled(tmp_path / "t.db")
    with monkeypatch.context() as patched:
        patched.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, m900_colour))
        Store(f"sqlite:///{tmp_path / 't.db'}").close()
    with pytest.raises(StoreTooNew, match="m900_colour"):
        Store(f"sqlite:///{tmp_path / 't.db'}")
