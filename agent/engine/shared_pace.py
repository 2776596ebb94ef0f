"""How often a host may be asked by all processes that share a PostgreSQL database: a row a host, by the
database's clock, and a session's advisory lock for each request under way, which ends with its process.

The rows are in no backup: they say nothing after a day, and name hosts by a hash only."""

from __future__ import annotations

import hashlib
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    Executable,
    Float,
    MetaData,
    Table,
    cast,
    delete,
    func,
    select,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.sql.expression import ColumnElement

from agent.net.deadline import POLL_SECONDS
from agent.net.exchange import MAX_RETRY_AFTER_S
from agent.store.dialect import PlainText, lock_once
from agent.web.rate_limit import HostRateLimiter

hosts = Table(
    "hosts",
    MetaData(),
    Column("host", PlainText, primary_key=True),
    Column("next_allowed_at", Float, nullable=False, default=0),
    Column("paused_until", Float, nullable=False, default=0),
    prefixes=["UNLOGGED"],
)
h = hosts.c
_NOW = cast(func.extract("epoch", func.clock_timestamp()), Float)


class SharedHostRateLimiter(HostRateLimiter):
    """Slots for requests to hosts that the processes at one database share. Each process holds its locks in
    one connection. Raises StoreError while the database does not answer."""

    def __init__(self, engine: Engine, gap: float) -> None:
        super().__init__(gap)
        self._engine = engine
        self._connection: Connection | None = None
        self._held: set[tuple[str, int]] = set()
        """The slots that threads of this process hold: a session is given its own lock a second time."""
        with engine.begin() as connection:
            lock_once(connection, "hosts")
            hosts.create(connection, checkfirst=True)
            latest = func.greatest(h.next_allowed_at, h.paused_until)
            connection.execute(delete(hosts).where(latest < _NOW - MAX_RETRY_AFTER_S))

    def pause_host(self, host: str, seconds: float) -> None:
        """Leave the host alone for this long, at most a day."""
        until = _NOW + min(seconds, MAX_RETRY_AFTER_S)
        row = insert(hosts).values(host=_hash(host), paused_until=until)
        later = func.greatest(h.paused_until, row.excluded.paused_until)
        with self._lock:
            self._ask(row.on_conflict_do_update(index_elements=[h.host], set_={"paused_until": later}))

    def remaining_pause(self, host: str) -> float:
        """Seconds until the host may be asked again."""
        with self._lock:
            return max(0.0, self._ask(select(h.paused_until - _NOW).where(h.host == _hash(host))) or 0.0)

    def close(self) -> None:
        """Let go of every slot of this process."""
        with self._lock:
            self._disconnect()

    def _take(self, host: str, gap: float, slots: int) -> tuple[float, int]:
        key = _hash(host)
        with self._lock:
            wait = self._ask(select(h.next_allowed_at - _NOW).where(h.host == key)) or 0.0
            if wait > 0:
                return wait, -1
            free = (n for n in range(slots) if (key, n) not in self._held)
            slot = next((n for n in free if self._ask(select(func.pg_try_advisory_lock(_lock(key, n))))), -1)
            if slot < 0:
                return POLL_SECONDS, -1
            row = insert(hosts).values(host=key, next_allowed_at=_NOW + gap)
            due = row.on_conflict_do_update(
                index_elements=[h.host], set_={"next_allowed_at": _NOW + gap}, where=h.next_allowed_at <= _NOW
            )
            if self._ask(due.returning(h.host)):
                self._held.add((key, slot))
                return 0.0, slot
            self._ask(select(func.pg_advisory_unlock(_lock(key, slot))))
            return 0.0, -1  # another process was faster, and the row says when

    def _release(self, host: str, slot: int) -> None:
        key = _hash(host)
        with self._lock:
            self._held.discard((key, slot))
            if self._connection is not None:  # else the lock ended with it
                self._ask(select(func.pg_advisory_unlock(_lock(key, slot))))

    def _ask(self, statement: Executable) -> Any:
        """The first value of a statement that is committed at once; None without a row."""
        try:
            if self._connection is None:
                self._connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
            answer = self._connection.execute(statement)
            return answer.scalar() if answer.returns_rows else None
        except BaseException:
            self._disconnect()
            raise

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.invalidate()  # its locks go with it
            connection.close()


def _hash(host: str) -> str:
    return hashlib.sha256(host.encode()).hexdigest()


def _lock(key: str, slot: int) -> ColumnElement[int]:
    return func.hashtextextended(f"touchstone host {key} {slot}", 0)
