"""One open database: where it is, how it is locked, and the keepers that share it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, create_engine, event, select
from sqlalchemy.engine import URL, ExceptionContext, make_url
from sqlalchemy.exc import DatabaseError, OperationalError
from sqlalchemy.pool import StaticPool

from agent.errors import StoreError
from agent.store import tables
from agent.store.batches import Batches
from agent.store.ledger import Ledger
from agent.store.library_index import LibraryIndex
from agent.store.migrations import migrate
from agent.store.model_calls import ModelCalls
from agent.store.pages import Pages
from agent.store.saved_sites import SavedSites
from agent.store.trust_ratings import TrustRatings
from agent.store.vectors import Vectors
from agent.store.write_lock import Writer

PRAGMAS = ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=10000", "temp_store=MEMORY")
"""What every SQLite connection is set to."""


class Store:
    """The database behind `url` (an SQLAlchemy URL), opened and brought to the newest shape.

    SQLite runs in WAL with synchronous=FULL (a killed process and a lost power line both keep every committed
    step), waits 10 s for a lock, and every writing transaction begins IMMEDIATE, so that a reader never has
    to become a writer. The threads of this process take turns in writing. Raises StoreTooNew for a database
    of a newer version, StoreError when it cannot be opened."""

    def __init__(self, url: str) -> None:
        self.url: URL = make_url(url)
        reader = _open_engine(self.url)
        writer = Writer(reader)
        try:
            if self.url.get_backend_name() == "sqlite" and self.url.database:
                Path(self.url.database).parent.mkdir(parents=True, exist_ok=True)
            migrate(reader, writer)
        except OSError as trouble:
            raise StoreError(
                f"the database {self.url.render_as_string(hide_password=True)} cannot be opened: {trouble}"
            ) from trouble
        self.engine = reader
        self.ledger = Ledger(reader, writer)
        self.pages = Pages(reader, writer)
        self.calls = ModelCalls(reader, writer)
        self.saved_sites = SavedSites(reader, writer)
        self.trust_ratings = TrustRatings(reader, writer)
        self.batches = Batches(reader, writer)
        self.library_index = LibraryIndex(reader, writer)
        self.vectors = Vectors(reader, writer)
        self._writer = writer

    def draft(self, key: str, text: str | None = None) -> str:
        """What was typed under `key` and not sent yet; with `text`, keep that from now on."""
        with self._writer.begin() as connection:
            if text is not None:
                connection.execute(tables.drafts.delete().where(tables.drafts.c.key == key))
                if text:
                    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
                    connection.execute(tables.drafts.insert().values(key=key, text=text, at=now))
                return text
            return connection.scalar(select(tables.drafts.c.text).where(tables.drafts.c.key == key)) or ""

    def close(self) -> None:
        """Let go of every connection."""
        self.engine.dispose()


def _open_engine(url: URL) -> Engine:
    if url.get_backend_name() != "sqlite":
        engine = create_engine(url, pool_pre_ping=True)
        event.listen(engine, "handle_error", _raise_store_error)
        return engine
    arguments: dict[str, Any] = {"connect_args": {"timeout": 10, "check_same_thread": False}}
    if not url.database or url.database == ":memory:":
        arguments["poolclass"] = StaticPool
    engine = create_engine(url, **arguments)
    event.listen(engine, "handle_error", _raise_store_error)

    @event.listens_for(engine, "connect")
    def _configure(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # we say BEGIN ourselves
        for pragma in PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Any) -> None:
        if connection.get_execution_options().get("writes"):
            connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def _raise_store_error(context: ExceptionContext) -> None:
    """A database that is locked, full, read-only or gone is told as a StoreError, so that nobody above needs
    to know SQL."""
    trouble = context.sqlalchemy_exception
    if (
        isinstance(trouble, OperationalError) or type(trouble) is DatabaseError
    ):  # the latter: the file is damaged, or no database at all
        raise StoreError(
            f"the database could not be used ({context.original_exception}); see that its disk has room and no other program holds it"
        ) from context.original_exception
