"""Migrations of the central file: what an older one holds afterwards."""

from __future__ import annotations

from sqlalchemy import inspect, text

from agent.accounts import tables
from agent.accounts.accounts import ACCOUNTS_FILE, Accounts
from agent.config import read_config
from agent.store.database import open_engine
from agent.store.migrations import migrate
from agent.store.write_lock import Writer

OLDER = (
    "ALTER TABLE shares ADD COLUMN may_comment INTEGER NOT NULL DEFAULT 1",
    "CREATE TABLE comments (id VARCHAR(32) PRIMARY KEY, share_id VARCHAR(32), author TEXT, text TEXT, at TEXT)",
    "INSERT INTO comments VALUES ('c', 's', 'Bo', 'Who is the client?', '2026')",
)


def test_comments_of_guests_leave_an_older_file_and_its_links_still_open(accounts: Accounts, sign_in) -> None:
    ann = sign_in("ann")
    _, key = accounts.shares.create(ann, "r1")
    engine = open_engine(f"sqlite:///{read_config().data_folder / ACCOUNTS_FILE}")
    writer = Writer(engine)
    with writer.begin() as connection:
        for statement in OLDER:
            connection.execute(text(statement))
        connection.execute(text("DELETE FROM migrations WHERE name = 'a002_no_comments'"))
    assert migrate(engine, writer, tables.MIGRATIONS) == ["a002_no_comments"]
    assert not inspect(engine).has_table("comments")
    assert accounts.shares.find(key).run_id == "r1" and accounts.shares.create(ann, "r2")
    engine.dispose()
