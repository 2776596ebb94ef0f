"""How the stores read and write: one query in one connection, one transaction for each change.

Writers of one process take turns, in the order in which they ask: SQLite admits one writer at a time and lets
the others retry in no order, so that one of many threads can wait until it times out. Threads queue here
instead; only other processes wait in SQLite."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Condition
from typing import Any, Generic, TypeVar

from sqlalchemy import Connection, Engine, Executable, Row, Table, delete, insert, select

R = TypeVar("R")


class FairLock:
    """A lock that is acquired in the order of the requests. Not re-entrant."""

    def __init__(self) -> None:
        self._turn = Condition()
        self.queue: list[object] = []
        """Who asked, in order; the first holds it."""

    def __enter__(self) -> None:
        me = object()
        with self._turn:
            self.queue.append(me)
            try:
                self._turn.wait_for(lambda: self.queue[0] is me)
            except BaseException:
                self.queue.remove(me)
                self._turn.notify_all()
                raise

    def __exit__(self, *_: object) -> None:
        with self._turn:
            del self.queue[0]
            self._turn.notify_all()


class Writer:
    """Begins the writing transactions of one database; shared by threads."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine.execution_options(writes=True)
        self.lock = FairLock()

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """A writing transaction; it is committed at the end, and rolled back on an error."""
        with self.lock, self._engine.begin() as connection:
            yield connection


class TableAccess:
    """Reads with `reader`; writes through `writer`, which lets one thread write at a time."""

    def __init__(self, reader: Engine, writer: Writer) -> None:
        self._reader, self._writer = reader, writer

    def _rows(self, query: Executable, values: Mapping[str, Any] | None = None) -> list[Any]:
        with self._reader.connect() as connection:
            return list(connection.execute(query, values or {}))

    def _row(self, query: Executable, values: Mapping[str, Any] | None = None) -> Any:
        with self._reader.connect() as connection:
            return connection.execute(query, values or {}).first()

    def _scalars(self, query: Executable) -> list[Any]:
        with self._reader.connect() as connection:
            return list(connection.scalars(query))

    def _scalar(self, query: Executable, values: Mapping[str, Any] | None = None) -> Any:
        with self._reader.connect() as connection:
            return connection.scalar(query, values or {})

    def _write(self, *statements: Executable) -> int:
        """Run statements in one transaction; returns the number of rows the last one changed."""
        with self._writer.begin() as connection:
            return [connection.execute(statement).rowcount for statement in statements][-1]


class KeyedRecords(TableAccess, Generic[R]):
    """Records of one table, each under its key: the table's first column."""

    def __init__(
        self,
        reader: Engine,
        writer: Writer,
        table: Table,
        *,
        to_row: Callable[[R], dict[str, Any]],
        from_row: Callable[[Row[Any]], R],
    ) -> None:
        super().__init__(reader, writer)
        self._table, self._to_row, self._from_row = table, to_row, from_row
        self._key = next(iter(table.columns))

    def all(self) -> dict[str, R]:
        """Every record by its key, in the order of the keys."""
        return {row[0]: self._from_row(row) for row in self._rows(select(self._table).order_by(self._key))}

    def get(self, key: str) -> R | None:
        """The record under a key; None when there is none."""
        row = self._row(select(self._table).where(self._key == key))
        return self._from_row(row) if row else None

    def put(self, key: str, record: R) -> None:
        """Store a record in place of the one under its key."""
        row = self._to_row(record) | {self._key.name: key}
        self._write(delete(self._table).where(self._key == key), insert(self._table).values(row))

    def drop(self, key: str) -> bool:
        """Delete a record; False when there is none."""
        return self._write(delete(self._table).where(self._key == key)) > 0
