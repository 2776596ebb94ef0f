"""One database, opened: how it writes, what a person types stays, and each trouble of the disk is a
StoreError in words."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import event, text

from agent.errors import StoreError, UsageError
from agent.store import database
from agent.store.database import Store
from tests.tables import by_table

pytestmark = pytest.mark.real_disk


@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
def test_every_connection_keeps_what_was_committed_through_a_power_cut(store):
    with store.engine.connect() as one, store.engine.connect() as other:
        for connection in (one, other):
            assert connection.scalar(text("PRAGMA journal_mode")) == "wal"
            assert connection.scalar(text("PRAGMA synchronous")) == 2
            assert connection.scalar(text("PRAGMA busy_timeout")) == 10_000


def test_sixteen_threads_write_though_the_database_waits_for_nobody(store):
    def impatient(connection: Any, *_: object) -> None:
        if store.engine.dialect.name == "sqlite":
            connection.execute("PRAGMA busy_timeout=0")

    event.listen(store.engine, "checkout", impatient)
    with ThreadPoolExecutor(16) as pool:
        told = list(pool.map(lambda n: store.draft(f"key {n % 7}", f"text {n}"), range(160)))
    assert told == [f"text {n}" for n in range(160)]


def test_drafts_are_kept_by_their_key_until_they_are_empty(store):
    assert store.draft("question") == ""
    store.draft("question", "How many")
    assert store.draft("question", "How many people?") == "How many people?" == store.draft("question")
    assert store.draft("site") == ""
    store.draft("question", "")
    assert store.draft("question") == ""


def test_what_cannot_be_opened_is_told_in_words(tmp_path):
    (tmp_path / "folder.db").mkdir()
    (tmp_path / "words.db").write_bytes(b"something else" * 1000)
    (tmp_path / "file").touch()
    for path, told in (
        ("folder.db", "unable to open"),
        ("words.db", "not a database"),
        ("file/t.db", "cannot be opened"),
    ):
        with pytest.raises(StoreError, match=told):
            Store(f"sqlite:///{tmp_path}/{path}")


@by_table
def test_an_address_that_cannot_be_used_is_told_in_a_line(url, told):
    """Both were tracebacks."""
    with pytest.raises(UsageError, match=told) as error:
        Store(url)
    assert "CANARY" not in str(error.value)


def test_a_database_somebody_else_holds_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(database, "PRAGMAS", (*database.PRAGMAS, "busy_timeout=20"))
    store = Store(f"sqlite:///{tmp_path}/t.db")
    with sqlite3.connect(tmp_path / "t.db", isolation_level=None) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError, match="locked"):
            store.draft("question", "x")
        holder.execute("ROLLBACK")
    assert store.draft("question", "x") == "x"
    store.close()
