"""Migrations of the database: named, forward-only, each applied once, in order.

Add a function at the end of `MIGRATIONS`; never change a released one. A database with a migration that this
list does not know was written by a newer version and is refused. A file database is copied before it changes.
"""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, or_, select, text, update

from agent.errors import StoreTooNew
from agent.store import fulltext, tables
from agent.store.ledger import utc_timestamp
from agent.store.pages import PAGE_ID
from agent.store.write_lock import Writer
from agent.text.urls import is_page_list

Migration = Callable[[Connection], None]


def m001_initial(connection: Connection) -> None:
    """Runs, steps, pages, calls, drafts and saved sites."""
    tables.metadata.create_all(
        connection,
        tables=[
            table
            for table in tables.metadata.sorted_tables
            if table not in tables.LIBRARY_TABLES + tables.BATCH_TABLES
        ],
    )


def m002_library(connection: Connection) -> None:
    """The library: sources, their passages, terms and vectors. Pages stored already wait to be indexed."""
    tables.metadata.create_all(connection, tables=list(tables.LIBRARY_TABLES))
    if connection.dialect.name == "sqlite":
        fulltext.create(connection)
    connection.execute(tables.unindexed_pages.insert().from_select(["page_id"], select(tables.pages.c.id)))


def m003_imported(connection: Connection) -> None:
    """The bundle a run was imported from. A new database has the column from the start."""
    if "imported" not in {column["name"] for column in inspect(connection).get_columns("runs")}:
        connection.execute(text("ALTER TABLE runs ADD COLUMN imported VARCHAR(64) NOT NULL DEFAULT ''"))


def m004_imported_pages(connection: Connection) -> None:
    """Whether a page is known from a bundle only. Pages that are stored already count as fetched here."""
    if "imported" not in {column["name"] for column in inspect(connection).get_columns("pages")}:
        connection.execute(text("ALTER TABLE pages ADD COLUMN imported INTEGER NOT NULL DEFAULT 0"))


def m005_trusts(connection: Connection) -> None:
    """Held ratings of domains; `m014_no_ratings` took them away."""


def m006_forks(connection: Connection) -> None:
    """The run that a run was forked from, and the last step they share."""
    have = {column["name"] for column in inspect(connection).get_columns("runs")}
    if "forked_from" not in have:
        connection.execute(text("ALTER TABLE runs ADD COLUMN forked_from VARCHAR(32) NOT NULL DEFAULT ''"))
    if "forked_at" not in have:
        connection.execute(text("ALTER TABLE runs ADD COLUMN forked_at INTEGER NOT NULL DEFAULT -1"))


def m008_batches(connection: Connection) -> None:
    """Batches of questions and their rows."""
    tables.metadata.create_all(connection, tables=list(tables.BATCH_TABLES))


def m009_sources_of_runs(connection: Connection) -> None:
    """Whether only runs brought a source to the library: those that a step of a reading run names. Of these,
    lists of pages for programs go to the bin."""
    if "by_run" not in {column["name"] for column in inspect(connection).get_columns("sources")}:
        connection.execute(text("ALTER TABLE sources ADD COLUMN by_run INTEGER NOT NULL DEFAULT 0"))
    s, runs = tables.steps.c, tables.runs.c
    reading = [runs.settings.contains(f'"flow":"{name}"') for name in ("research", "site", "collect")]
    changes = select(s.change).join(tables.runs, runs.id == s.run_id).where(or_(*reading))
    read = {page_id for change in connection.scalars(changes) for page_id in PAGE_ID.findall(change)}
    sources = tables.sources.c
    columns = (sources.id, sources.page_id, sources.url, sources.deleted_at)
    for row in connection.execute(select(*columns).where(sources.origin == "")).all():
        if row.page_id in read:
            gone = row.deleted_at or (utc_timestamp() if is_page_list(row.url) else "")
            values = {"by_run": 1, "deleted_at": gone}
            connection.execute(update(tables.sources).where(sources.id == row.id).values(values))


def m010_passage_kinds(connection: Connection) -> None:
    """What kind of text a passage is, and the words that say what it is about."""
    columns = {column["name"] for column in inspect(connection).get_columns("passages")}
    for name, default in (("kind", "prose"), ("label", "")):
        if name not in columns:
            kind = "VARCHAR(12)" if name == "kind" else "TEXT"
            connection.execute(
                text(f"ALTER TABLE passages ADD COLUMN {name} {kind} NOT NULL DEFAULT '{default}'")
            )


def m011_fetched_addresses(connection: Connection) -> None:
    """What the live web last gave for an address; nothing is known of pages that were fetched before."""
    tables.fetched_addresses.create(connection, checkfirst=True)


def m012_validators(connection: Connection) -> None:
    """The validators that a server last stated for an address."""
    columns = {column["name"] for column in inspect(connection).get_columns("fetched_addresses")}
    for name in ("etag", "last_modified"):
        if name not in columns:
            connection.execute(
                text(f"ALTER TABLE fetched_addresses ADD COLUMN {name} TEXT NOT NULL DEFAULT ''")
            )


def m013_calls_by_time(connection: Connection) -> None:
    """What a day's model calls used is read from an index: the calls themselves hold whole prompts."""
    have = {index["name"] for index in inspect(connection).get_indexes("calls")}
    if "calls_by_time" not in have:
        columns = "at, tokens_in, tokens_out, cost_usd"
        connection.execute(text(f"CREATE INDEX calls_by_time ON calls ({columns})"))


def m014_no_ratings(connection: Connection) -> None:
    """Domains are not rated any more: a source is excluded, or its signs count."""
    connection.execute(text("DROP TABLE IF EXISTS trusts"))


MIGRATIONS: tuple[Migration, ...] = (
    m001_initial,
    m002_library,
    m003_imported,
    m004_imported_pages,
    m005_trusts,
    m006_forks,
    m008_batches,
    m009_sources_of_runs,
    m010_passage_kinds,
    m011_fetched_addresses,
    m012_validators,
    m013_calls_by_time,
    m014_no_ratings,
)


def find_pending(engine: Engine, migrations: Sequence[Migration] = ()) -> list[Migration]:
    """The migrations this database still lacks, of those given or of all runs' stores. Raises StoreTooNew
    when it has an unknown one."""
    migrations = migrations or MIGRATIONS
    with engine.connect() as connection:
        known = {migration.__name__ for migration in migrations}
        have: set[str] = set()
        if inspect(connection).has_table("migrations"):
            have = set(connection.scalars(select(tables.applied_migrations.c.name)))
    if strange := sorted(have - known):
        raise StoreTooNew(
            f"this database was written by a newer Touchstone (it has {', '.join(strange)}); "
            "update Touchstone, or set TOUCHSTONE_DATA to another folder"
        )
    return [migration for migration in migrations if migration.__name__ not in have]


def migrate(engine: Engine, writer: Writer, migrations: Sequence[Migration] = ()) -> list[str]:
    """Apply the pending ones of these migrations; returns their names. A file is copied first."""
    migrations = migrations or MIGRATIONS
    todo = find_pending(engine, migrations)
    path = Path(engine.url.database or "") if engine.dialect.name == "sqlite" else None
    if todo and len(todo) < len(migrations) and path and path.is_file():
        _back_up(engine, path.with_name(f"{path.name}.before-{todo[0].__name__}"))
    for migration in todo:
        with writer.begin() as connection:
            tables.applied_migrations.create(connection, checkfirst=True)
            done = connection.scalar(
                select(tables.applied_migrations.c.name).where(
                    tables.applied_migrations.c.name == migration.__name__
                )
            )
            if not done:  # another process may have been faster
                migration(connection)
                row = {"name": migration.__name__, "at": utc_timestamp()}
                connection.execute(tables.applied_migrations.insert().values(row))
    return [migration.__name__ for migration in todo]


def _back_up(engine: Engine, target: Path) -> None:
    """Copy the database with SQLite's backup: opening and closing the file by other means would release its
    POSIX locks, and the next process to end would remove the write-ahead log."""
    made = target.with_name(
        f"{target.name}.{uuid.uuid4().hex[:8]}"
    )  # other processes copy it at the same time
    with engine.connect() as connection, closing(sqlite3.connect(made)) as copy:
        connection.connection.driver_connection.backup(copy)  # type: ignore[union-attr]
    made.replace(target)
