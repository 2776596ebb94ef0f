"""Migrations of the database: named, forward-only, each applied once, in order.

Add a function at the end of `MIGRATIONS`; never change a released one. A database with a migration that this
list does not know was written by a newer version and is refused. A file database is copied before it changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Column, Connection, delete, inspect, select

from agent.errors import StoreError, StoreTooNew
from agent.store import tables
from agent.store.backup import copy_database
from agent.store.dialect import is_sqlite, lock_once, schema_of
from agent.store.fulltext import open_fulltext
from agent.store.ledger import new_id, utc_timestamp
from agent.store.schemas import create_schema
from agent.store.table_access import Writer

Migration = Callable[[Connection], None]
applied = tables.applied_migrations


def m101_tables(connection: Connection) -> None:
    """All tables as of the first version whose stores later ones open."""
    tables.metadata.create_all(connection)
    open_fulltext(connection).create()


def m102_webhooks(connection: Connection) -> None:
    """Who is told when a run comes to rest."""
    tables.webhooks.create(connection, checkfirst=True)


def m103_schedules(connection: Connection) -> None:
    """What is asked again and again, and which runs that started."""
    tables.schedules.create(connection, checkfirst=True)
    _add_text(connection, tables.runs.c.schedule_id)


def m104_batch_programs(connection: Connection) -> None:
    """Which program started a batch."""
    _add_text(connection, tables.batches.c.program)


def m105_word_totals(connection: Connection) -> None:
    """The table of words in its newer shape: it is filled anew."""
    if not is_sqlite(connection.dialect):
        open_fulltext(connection).create()
        connection.execute(delete(tables.library_metadata))


def _add_text(connection: Connection, column: Column[Any]) -> None:
    """Add a column of texts to its table, where it is not there."""
    table = str(column.table.name)
    columns = inspect(connection).get_columns(table, schema=schema_of(connection))
    if column.name not in {known["name"] for known in columns}:
        kind = column.type.compile(connection.dialect)
        connection.exec_driver_sql(f"ALTER TABLE {table} ADD COLUMN {column.name} {kind} NOT NULL DEFAULT ''")


MIGRATIONS = (m101_tables, m102_webhooks, m103_schedules, m104_batch_programs, m105_word_totals)
MOVE_MARK = "move from "
"""What the name of a row begins with that says that a move fills this store, and from where."""


def migrate(writer: Writer, migrations: Sequence[Migration] = (), *, by_move: bool = False) -> list[str]:
    """Apply those of these migrations that this database still lacks; returns their names. A file is copied
    first. Raises StoreTooNew when it has an unknown one, StoreError for a store of before m101, and unless
    `by_move` for one that a move has not filled to its end."""
    engine, migrations = writer.engine, migrations or MIGRATIONS
    with engine.connect() as connection:
        have: set[str] = set()
        if inspect(connection).has_table("migrations", schema=schema_of(connection)):
            have = set(connection.scalars(select(applied.c.name)))
    begun = [name for name in have if name.startswith(MOVE_MARK)]
    if begun and not by_move:
        raise StoreError(f"a {begun[0]} to this store is not finished: give `./touchstone move-store` again")
    strange = sorted(have - {migration.__name__ for migration in migrations} - {*begun})
    if any(name.startswith(("m0", "m100", "a0")) for name in strange):
        raise StoreError(
            "this database was written by an earlier Touchstone: commit 2579e32c is the last that opens it "
            "and exports its runs; set TOUCHSTONE_DATA to another folder to begin a new one"
        )
    if strange:
        raise StoreTooNew(
            f"this database was written by a newer Touchstone (it has {', '.join(strange)}); "
            "update Touchstone, or set TOUCHSTONE_DATA to another folder"
        )
    todo = [migration for migration in migrations if migration.__name__ not in have]
    path = Path(engine.url.database or "") if is_sqlite(engine.dialect) else None
    if todo and len(todo) < len(migrations) and path and path.is_file():
        kept = path.with_name(f"{path.name}.before-{todo[0].__name__}")
        made = kept.with_name(f"{kept.name}.{new_id()}")  # others copy it at the same time
        copy_database(path, made)
        made.replace(kept)
    for migration in todo:
        with writer.begin() as connection:
            lock_once(connection, "migrations")
            create_schema(connection)
            applied.create(connection, checkfirst=True)
            done = select(applied.c.name).where(applied.c.name == migration.__name__)
            if not connection.scalar(done):  # another process may have been faster
                migration(connection)
                row = {"name": migration.__name__, "at": utc_timestamp()}
                connection.execute(applied.insert().values(row))
    return [migration.__name__ for migration in todo]
