"""How the database changes its shape: in order, once, with a copy before, and never downwards."""

from __future__ import annotations

import json
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


def m900_colour(connection: Connection) -> None:
    connection.exec_driver_sql("ALTER TABLE runs ADD COLUMN colour VARCHAR(9) NOT NULL DEFAULT 'green'")


def m901_broken(connection: Connection) -> None:
    connection.exec_driver_sql("ALTER TABLE runs ADD COLUMN shade VARCHAR(9)")
    raise RuntimeError("power cut")


def filled(path) -> str:
    store = Store(f"sqlite:///{path}")
    run_id = store.ledger.create("who?", Settings(), Step(n=0, name="ask", change={}, next="decide"))
    store.close()
    return run_id


def columns(path) -> set[str]:
    with sqlite3.connect(path) as connection:
        return {row[1] for row in connection.execute("PRAGMA table_info(runs)")}


def test_a_new_database_gets_every_shape_and_no_copy(tmp_path):
    filled(tmp_path / "t.db")
    with sqlite3.connect(tmp_path / "t.db") as connection:
        names = [row[0] for row in connection.execute("SELECT name FROM migrations ORDER BY name")]
    assert names == [migration.__name__ for migration in migrations.MIGRATIONS]
    assert not list(tmp_path.glob("*before*"))


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


def test_an_upgrade_happens_once(tmp_path, monkeypatch):
    filled(tmp_path / "t.db")
    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, m900_colour))
    stores = [Store(f"sqlite:///{tmp_path / 't.db'}") for _ in range(2)]
    assert migrations.find_pending(stores[0].engine) == []
    for store in stores:
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


def test_the_pages_of_an_older_database_count_as_read_here(tmp_path, monkeypatch):
    path = tmp_path / "t.db"
    with monkeypatch.context() as older, sqlite3.connect(path) as raw:
        older.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS[:3])
        Store(f"sqlite:///{path}").close()
        raw.execute("ALTER TABLE pages DROP COLUMN imported")
        raw.execute(
            "INSERT INTO pages (id, url, sha256, text, record, fetched_at) VALUES ('p1', 'u', 's', 'old text', '{}', '2026')"
        )
    Store(f"sqlite:///{path}").close()
    with sqlite3.connect(path) as raw:
        assert raw.execute("SELECT imported FROM pages").fetchall() == [(0,)]


def test_the_runs_of_an_older_database_are_no_forks(tmp_path, monkeypatch):
    path = tmp_path / "t.db"
    known = [migration.__name__ for migration in migrations.MIGRATIONS]
    with monkeypatch.context() as older, sqlite3.connect(path) as raw:
        older.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS[: known.index("m006_forks")])
        run_id = filled(path)
        raw.execute("ALTER TABLE runs DROP COLUMN forked_from")
        raw.execute("ALTER TABLE runs DROP COLUMN forked_at")
    store = Store(f"sqlite:///{path}")
    assert (store.ledger.get(run_id).forked_from, store.ledger.get(run_id).forked_at) == ("", -1)
    store.close()


def test_what_only_runs_read_is_told_from_what_was_added_in_an_older_database(tmp_path, monkeypatch):
    path = tmp_path / "t.db"
    known = [migration.__name__ for migration in migrations.MIGRATIONS]
    with monkeypatch.context() as older:
        older.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS[: known.index("m009_sources_of_runs")])
        Store(f"sqlite:///{path}").close()
    pages = {
        "a" * 20: "https://read.example/",
        "b" * 20: "https://read.example/sitemap.xml",
        "c" * 20: "file:k.md",
    }
    with sqlite3.connect(path) as raw:
        raw.execute("ALTER TABLE sources DROP COLUMN by_run")
        run = (
            "INSERT INTO runs (id, question, status, settings, head, next, created_at, updated_at, actions, "
        )
        run += "verdict, error, control, owner, lease_until, token, thread_id, deleted_at, imported) VALUES "
        run += (
            "('r1', 'q', 'done', '{\"flow\":\"site\"}', 0, '', '', '', 0, '', '', '', '', 0, 0, 'r1', '', '')"
        )
        raw.execute(run)
        change = json.dumps({"pages": [{"page_id": page_id} for page_id in list(pages)[:2]]})
        raw.execute("INSERT INTO steps (run_id, n, name, change, next, by, at, seconds, cpu_ms) VALUES "
                    "('r1', 0, 'crawl', ?, '', 'code', '', 0, 0)", (change,))  # fmt: skip
        for page_id, url in pages.items():
            raw.execute("INSERT INTO sources (source_id, kind, title, url, page_id, sha256, description, "
                        "described_by, added_at, fetched_at, passages, places, deleted_at, gone_at, detail, words, "
                        "origin, mark, folded) VALUES (?, 'page', '', ?, ?, '', '', 'keyless', '', '', 0, 0, '', "
                        "'', '', '', '', '', '')", (f"kb:{url}", url, page_id))  # fmt: skip
    Store(f"sqlite:///{path}").close()
    with sqlite3.connect(path) as raw:
        rows = raw.execute("SELECT url, by_run, deleted_at != '' FROM sources ORDER BY id").fetchall()
    assert rows == [
        (url, by_run, gone) for url, by_run, gone in zip(pages.values(), (1, 1, 0), (0, 1, 0), strict=True)
    ]
