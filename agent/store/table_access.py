"""How the stores read and write: one query in one connection, one transaction for each change.

Writers of one process take turns on SQLite: it admits one writer at a time and lets the others retry, so
that one of many threads can wait until it times out. Threads wait here; only other processes wait in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from threading import Lock
from typing import Any

from sqlalchemy import Connection, Engine, Executable

from agent.store.bodies import Bodies
from agent.store.dialect import is_sqlite
from agent.store.notices import Flags


class Writer:
    """Begins the writing transactions of one database, whose pages have their bodies in `bodies`; shared by
    threads."""

    def __init__(self, engine: Engine, bodies: Bodies | None = None) -> None:
        self.engine, self.bodies = engine, bodies or Bodies()
        self.enqueue: Callable[[Connection, str], None] = lambda connection, run_id: None
        """Called at the end of a transaction with each run that it made running."""
        self.wake: Callable[[str], None] = lambda run_id: None
        """Called with each of them after the commit."""
        self.lock = Lock() if is_sqlite(engine.dialect) else nullcontext()
        self.flags = Flags()
        self._writing = engine.execution_options(writes=True)

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """A writing transaction; it is committed at the end, and rolled back on an error."""
        with self.lock, self._writing.begin() as connection:
            running: list[str] = []
            connection.info["running"] = running
            yield connection
            for run_id in running:
                self.enqueue(connection, run_id)
        for run_id in running:
            self.wake(run_id)


def note_running(connection: Connection, run_id: str) -> None:
    """A run works, or has something to do: whoever drives runs is told when the transaction commits."""
    connection.info["running"].append(run_id)


class TableAccess:
    """Reads and writes tables of the database of `writer`."""

    def __init__(self, writer: Writer) -> None:
        level = {} if is_sqlite(writer.engine.dialect) else {"isolation_level": "AUTOCOMMIT"}
        self._reader, self._writer = writer.engine.execution_options(**level), writer

    def _read(self, query: Executable, values: Mapping[str, Any] | None = None) -> Any:
        """The whole result of a query, as SQLAlchemy gives it; it needs no connection any more."""
        with self._reader.connect() as connection:
            return connection.execute(query, values or {}).freeze()()

    def _write(self, *statements: Executable) -> int:
        """Run statements in one transaction; returns the number of rows the last one changed."""
        with self._writer.begin() as connection:
            return [connection.execute(statement).rowcount for statement in statements][-1]
