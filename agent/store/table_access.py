"""How the stores read and write: one query in one connection, one transaction for each change.

Writers of one process take turns on SQLite: it admits one writer at a time and lets the others retry, so
that one of many threads can wait until it times out. Threads wait here; only other processes wait in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from threading import Lock
from typing import Any

from sqlalchemy import Connection, Engine, Executable

from agent.store.bodies import Bodies
from agent.store.dialect import is_sqlite


class Writer:
    """Begins the writing transactions of one database, whose pages have their bodies in `bodies`; shared by
    threads."""

    def __init__(self, engine: Engine, bodies: Bodies | None = None) -> None:
        self.engine, self.bodies = engine, bodies or Bodies()
        self.lock = Lock() if is_sqlite(engine.dialect) else nullcontext()
        self._writing = engine.execution_options(writes=True)

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """A writing transaction; it is committed at the end, and rolled back on an error."""
        with self.lock, self._writing.begin() as connection:
            yield connection


class TableAccess:
    """Reads and writes tables of the database of `writer`."""

    def __init__(self, writer: Writer) -> None:
        self._reader, self._writer = writer.engine, writer

    def _read(self, query: Executable, values: Mapping[str, Any] | None = None) -> Any:
        """The whole result of a query, as SQLAlchemy gives it; it needs no connection any more."""
        with self._reader.connect() as connection:
            return connection.execute(query, values or {}).freeze()()

    def _write(self, *statements: Executable) -> int:
        """Run statements in one transaction; returns the number of rows the last one changed."""
        with self._writer.begin() as connection:
            return [connection.execute(statement).rowcount for statement in statements][-1]
