"""One open database, with the stores that share it."""

from __future__ import annotations

import math
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

from sqlalchemy import Connection, Engine, Table, create_engine, delete, event, select
from sqlalchemy.engine import ExceptionContext, make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, OperationalError
from sqlalchemy.pool import StaticPool

from agent.errors import StoreError, UsageError
from agent.store import tables
from agent.store.backup import describe_fault
from agent.store.batches import Batches
from agent.store.bodies import Bodies
from agent.store.dialect import is_sqlite, upsert
from agent.store.ledger import Ledger, utc_timestamp
from agent.store.library_index import LibraryIndex
from agent.store.migrations import migrate
from agent.store.model_calls import ModelCalls
from agent.store.pages import Pages
from agent.store.schedules import Schedules
from agent.store.schemas import choose_schema, open_pool
from agent.store.table_access import TableAccess, Writer
from agent.store.vectors import Vectors
from agent.types import Run, Settings, Step

R = TypeVar("R")
PRAGMAS = "busy_timeout=10000 journal_mode=WAL synchronous=FULL temp_store=MEMORY cache_size=-512".split()
"""Set on every SQLite connection; half a MB of cache each, for there are many, and the system caches, too."""
MAX_HELD, HELD_S = 20, 3600.0
"""Ended runs that are held for who looks at them, the newest, and for how many seconds."""
PURGE_DUE = ".purge"
"""The draft that says that what was erased may still be in the file."""


class KeyedRecords(TableAccess, Generic[R]):
    """Records of one table, each under its key (the first column) as a text (the second)."""

    def __init__(
        self, writer: Writer, table: Table, *, dump: Callable[[R], str], load: Callable[[str], R]
    ) -> None:
        super().__init__(writer)
        self._table, self._dump, self._load = table, dump, load
        self._key, self._text, _ = table.columns

    def all(self) -> dict[str, R]:
        """Every record by its key, in the order of the keys."""
        rows = self._read(select(self._key, self._text).order_by(self._key))
        return {key: self._load(text) for key, text in rows}

    def get(self, key: str) -> R | None:
        """The record under a key; None when there is none."""
        text = self._read(select(self._text).where(self._key == key)).scalar()
        return None if text is None else self._load(text)

    def put(self, key: str, record: R) -> None:
        """Store a record in place of the one under its key."""
        row = (key, self._dump(record), utc_timestamp())
        with self._writer.begin() as connection:
            upsert(connection, self._table, dict(zip(self._table.columns.keys(), row, strict=True)))

    def drop(self, key: str) -> None:
        """Delete a record, if there is one."""
        self._write(delete(self._table).where(self._key == key))


class Store:
    """The store at `url` (an SQLAlchemy URL), opened and migrated to the newest version, with the raw bodies
    of pages in it or in `bodies`.

    SQLite runs in WAL with synchronous=FULL (every committed step survives a killed process and a power
    loss), waits 10 s for a lock, and begins every writing transaction IMMEDIATE: no reader has to become a
    writer. Raises StoreTooNew for a database of a newer version, StoreError when it cannot be opened."""

    def __init__(self, url: str, bodies: Bodies | None = None) -> None:
        self.engine = open_engine(url)
        self.writer = writer = Writer(self.engine, bodies)
        self.url = make_url(url)
        try:
            is_file = self.url.database and "vfs" not in self.url.query
            if is_sqlite(self.engine.dialect) and is_file:
                Path(str(self.url.database)).parent.mkdir(parents=True, exist_ok=True)
            migrate(writer)
        except OSError as trouble:
            shown = self.url.render_as_string(hide_password=True)
            raise StoreError(f"the database {shown} cannot be opened: {trouble}") from trouble
        self.ledger = Ledger(writer)
        self.pages = Pages(writer)
        self.calls = ModelCalls(writer)
        self.saved_sites = KeyedRecords(
            writer, tables.saved_sites, dump=Settings.model_dump_json, load=Settings.model_validate_json
        )
        self.drafts = KeyedRecords[str](writer, tables.drafts, dump=str, load=str)
        self.webhooks = KeyedRecords[str](writer, tables.webhooks, dump=str, load=str)
        self.batches = Batches(writer)
        self.schedules = Schedules(writer)
        self.library_index = LibraryIndex(writer)
        self.vectors = Vectors(writer)

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
        if not is_sqlite(self.engine.dialect):
            return
        path = Path(str(self.url.database))
        for copy in path.parent.glob(f"{path.name}.before-*"):
            copy.unlink()
        try:
            with self.writer.lock, self.engine.connect() as connection:
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
        """Write one small row, and look for the bodies. Raises StoreError when that cannot be done."""
        self.writer.bodies.check()
        self.drafts.put(".ready", utc_timestamp())

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()


class UnstoredRuns:
    """The runs that are written nowhere, by id, each in a database of its own in memory: those at work, and
    for a while some that ended. Thread-safe."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._stores: dict[str, Store] = {}
        self._ended: dict[str, float] = {}
        self._lock = threading.Lock()

    def create(self, question: str, settings: Settings, first: Step, *, owner: str = "") -> str:
        """A new run in its own database; returns its id."""
        store = Store.in_memory()
        run_id = store.ledger.create(question, settings, first, owner=owner)
        with self._lock:
            self._stores[run_id] = store
        return run_id

    def get(self, run_id: str) -> Store | None:
        """The database of a run; None when it is not in memory."""
        return self._stores.get(run_id)

    def stores(self) -> list[Store]:
        """The databases of all runs in memory."""
        with self._lock:
            return list(self._stores.values())

    def ended_runs(self) -> list[Run]:
        """The ended runs that are held, newest first."""
        with self._lock:
            held = [(run_id, self._stores[run_id]) for run_id in reversed(self._ended)]
        return [store.ledger.get(run_id) for run_id, store in held]

    def end(self, run_id: str, *, hold: bool) -> list[str]:
        """A run has ended: `hold` it for a while, or forget it. Returns the ids of those forgotten."""
        with self._lock:
            self._ended[run_id] = self._clock() if hold else -math.inf
            oldest, kept = self._clock() - HELD_S, [*self._ended][-MAX_HELD:]
            gone = [name for name, at in self._ended.items() if name not in kept or at <= oldest]
            stores = [self._stores.pop(name) for name in gone if self._ended.pop(name, None) is not None]
        for store in stores:
            store.close()
        return gone

    def close(self) -> None:
        """Forget every run."""
        with self._lock:
            stores, self._stores, self._ended = list(self._stores.values()), {}, {}
        for store in stores:
            store.close()


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
    is_file = url.drivername.startswith("sqlite")
    try:
        if is_file:
            memory = {"poolclass": StaticPool} if url.database in (None, "", ":memory:") else {}
            engine, is_new = create_engine(url, connect_args={"check_same_thread": False}, **memory), True
        else:
            engine, is_new = open_pool(url)
    except (ArgumentError, ModuleNotFoundError) as error:
        raise UsageError(
            f"DATABASE_URL names {url.drivername}, and there is no driver for it here ({error}): install the "
            "driver, or name another database"
        ) from error
    if is_new:
        event.listen(engine, "handle_error", _raise_store_error)
    if is_file:
        event.listen(engine, "connect", _configure)
        event.listen(engine, "begin", _begin)
        return engine
    return choose_schema(engine, str(url.query.get("store", "")))


def _configure(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # _begin sends BEGIN
    for pragma in PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    if connection.get_execution_options().get("writes"):
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def _raise_store_error(context: ExceptionContext) -> None:
    """Raise StoreError for a database that is locked, full, read-only, damaged, gone or not ours to write."""
    error, fault = context.sqlalchemy_exception, context.original_exception
    is_refused = getattr(fault, "sqlstate", "") == "42501"  # insufficient_privilege
    if not (isinstance(error, OperationalError) or type(error) is DatabaseError or is_refused):
        return  # the plain DatabaseError is a damaged file's
    if is_sqlite(context.dialect):
        path = str(context.engine.url.database) if context.engine else "of this program"
        raise StoreError(describe_fault(fault, path)) from fault
    shown = context.engine.url.render_as_string(hide_password=True) if context.engine else "asked for"
    why = next(iter(str(fault).strip().splitlines()), type(fault).__name__)
    raise StoreError(
        f"the database {shown} could not be used ({why}); see that PostgreSQL runs, that its disk has room "
        "and that this user may create and write tables. What is stored stays, and runs go on when it answers"
    ) from fault
