"""One open database, with the stores that share it."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import ExceptionContext, make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, OperationalError
from sqlalchemy.pool import StaticPool

from agent.errors import StoreError, UsageError
from agent.store import tables
from agent.store.backup import describe_fault
from agent.store.batches import Batches
from agent.store.ledger import Ledger, utc_timestamp
from agent.store.library_index import LibraryIndex
from agent.store.migrations import migrate
from agent.store.model_calls import ModelCalls
from agent.store.pages import Pages
from agent.store.table_access import KeyedRecords, Writer
from agent.store.vectors import Vectors
from agent.types import Settings

PRAGMAS = ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=10000", "temp_store=MEMORY")
"""Set on every SQLite connection."""
PURGE_DUE = ".purge"
"""The draft that says that what was erased may still be in the file."""


class Store:
    """The database at `url` (an SQLAlchemy URL), opened and migrated to the newest version.

    SQLite runs in WAL with synchronous=FULL (every committed step survives a killed process and a power
    loss), waits 10 s for a lock, and begins every writing transaction IMMEDIATE: no reader has to become a
    writer. Raises StoreTooNew for a database of a newer version, StoreError when it cannot be opened."""

    def __init__(self, url: str) -> None:
        self.engine = reader = open_engine(url)
        self._writer = writer = Writer(reader)
        self.url = reader.url
        try:
            is_file = self.url.database and "vfs" not in self.url.query
            if reader.dialect.name == "sqlite" and is_file:
                Path(str(self.url.database)).parent.mkdir(parents=True, exist_ok=True)
            migrate(reader, writer)
        except OSError as trouble:
            shown = self.url.render_as_string(hide_password=True)
            raise StoreError(f"the database {shown} cannot be opened: {trouble}") from trouble
        self.ledger = Ledger(reader, writer)
        self.pages = Pages(reader, writer)
        self.calls = ModelCalls(reader, writer)
        self.saved_sites: KeyedRecords[Settings] = KeyedRecords(
            reader,
            writer,
            tables.saved_sites,
            to_row=lambda settings: {"settings": settings.model_dump_json(), "at": utc_timestamp()},
            from_row=lambda row: Settings.model_validate_json(row.settings),
        )
        self.drafts: KeyedRecords[str] = KeyedRecords(
            reader,
            writer,
            tables.drafts,
            to_row=lambda text: {"text": text, "at": utc_timestamp()},
            from_row=lambda row: str(row.text),
        )
        self.batches = Batches(reader, writer)
        self.library_index = LibraryIndex(reader, writer)
        self.vectors = Vectors(reader, writer)

    @classmethod
    def in_memory(cls) -> Store:
        """An empty database in memory, shared by the threads of this process; closing it forgets it."""
        return cls(f"sqlite:///file:/touchstone-{uuid.uuid4().hex}?vfs=memdb&uri=true")

    def draft(self, key: str, text: str | None = None) -> str:
        """The unsent text stored under `key`; with `text`, store that instead ("" deletes it)."""
        if text is None:
            return self.drafts.get(key) or ""
        if text:
            self.drafts.put(key, text)
        else:
            self.drafts.drop(key)
        return text

    def purge(self) -> None:
        """Write the database file anew, so that no byte of what was overwritten or deleted stays in it, and
        remove the copies made before upgrades; for SQLite. Raises StoreError, and it stays due, when that
        fails or a reader keeps the log of the database from being emptied."""
        if self.engine.dialect.name != "sqlite":
            return
        path = Path(str(self.url.database))
        for copy in path.parent.glob(f"{path.name}.before-*"):
            copy.unlink()
        try:
            with self._writer.lock, self.engine.connect() as connection:
                connection.exec_driver_sql("PRAGMA temp_store=FILE")  # all of it would fill the memory
                connection.exec_driver_sql("VACUUM")
                row = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").first()
                connection.exec_driver_sql("PRAGMA temp_store=MEMORY")
            if row and row[0]:
                raise StoreError("the database is being read")
            self.drafts.drop(PURGE_DUE)
        except StoreError as trouble:
            raise StoreError(
                f"it is erased, but the file may still hold its former text ({trouble}); this is tried again "
                "at the next start, and when the act `erase_note` is given the same step"
            ) from trouble

    def check_writable(self) -> None:
        """Write one small row. Raises StoreError when that cannot be done."""
        self.drafts.put(".ready", utc_timestamp())

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()


def open_engine(address: str) -> Engine:
    """An engine that connects as all stores do. Raises UsageError for what is no address of a database, or
    has no driver."""
    try:
        url = make_url(address)
    except (ArgumentError, ValueError) as error:
        raise UsageError(
            "DATABASE_URL is no address of a database: give one like sqlite:////srv/touchstone.db or "
            "postgresql+psycopg://user:password@host/name, or leave it empty"
        ) from error
    is_sqlite = url.drivername.startswith("sqlite")
    arguments: dict[str, Any] = {"pool_pre_ping": True}
    if is_sqlite:
        arguments = {"connect_args": {"timeout": 10, "check_same_thread": False}}
        arguments |= {"poolclass": StaticPool} if url.database in (None, "", ":memory:") else {}
    try:
        engine = create_engine(url, **arguments)
    except (ArgumentError, ModuleNotFoundError) as error:
        raise UsageError(
            f"DATABASE_URL names {url.drivername}, and there is no driver for it here ({error}): install the "
            "driver, or name another database"
        ) from error
    event.listen(engine, "handle_error", _raise_store_error)
    if is_sqlite:
        event.listen(engine, "connect", _configure)
        event.listen(engine, "begin", _begin)
    return engine


def _configure(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # _begin sends BEGIN
    for pragma in PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    if connection.get_execution_options().get("writes"):
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def _raise_store_error(context: ExceptionContext) -> None:
    """Raise StoreError for a database that is locked, full, read-only, damaged or gone."""
    error = context.sqlalchemy_exception
    if isinstance(error, OperationalError) or type(error) is DatabaseError:  # the latter: a damaged file
        path = str(context.engine.url.database) if context.engine else "of this program"
        fault = context.original_exception
        raise StoreError(describe_fault(fault, path)) from fault
