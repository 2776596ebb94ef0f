"""How often a caller may ask all servers that share a PostgreSQL database, by the database's clock. The rows
are in no backup, and name callers by a hash only."""

from __future__ import annotations

import hashlib
import math

from sqlalchemy import Column, Engine, Float, MetaData, Table, cast, delete, func, select
from sqlalchemy.dialects.postgresql import insert

from agent.accounts.quotas import RequestRates
from agent.net.exchange import MAX_RETRY_AFTER_S
from agent.store.dialect import PlainText, is_sqlite, lock_once

rates = Table(
    "request_rates",
    MetaData(),
    Column("caller", PlainText, primary_key=True),
    Column("left", Float, nullable=False),
    Column("at", Float, nullable=False),
    prefixes=["UNLOGGED"],
)
r = rates.c
_NOW = cast(func.extract("epoch", func.clock_timestamp()), Float)


class SharedRequestRates(RequestRates):
    """Requests a minute for each caller, at all processes of one database. Raises StoreError while that does
    not answer."""

    def __init__(self, engine: Engine, per_minute: int) -> None:
        super().__init__(per_minute)
        self._engine = engine
        with engine.begin() as connection:
            lock_once(connection, "rates")
            rates.create(connection, checkfirst=True)
            connection.execute(delete(rates).where(r.at < _NOW - MAX_RETRY_AFTER_S))

    def take(self, caller: str) -> int:
        """Count a request: 0 when it may be answered, else the whole seconds until the next one may."""
        if self._most <= 0:
            return 0
        key = hashlib.sha256(caller.encode()).hexdigest()
        left = func.least(self._most, r.left + (_NOW - r.at) * self._per_second)
        row = insert(rates).values(caller=key, left=self._most - 1, at=_NOW)
        counted = row.on_conflict_do_update(
            index_elements=[r.caller], set_={"left": left - 1, "at": _NOW}, where=left >= 1
        )
        with self._engine.begin() as connection:
            if connection.scalar(counted.returning(r.caller)):
                return 0
            missing = 1 - float(connection.scalar(select(left).where(r.caller == key)) or 0.0)
        return max(1, math.ceil(missing / self._per_second))


def open_rates(engine: Engine, per_minute: int) -> RequestRates:
    """The rates of all processes at a PostgreSQL database, else those of this process."""
    return RequestRates(per_minute) if is_sqlite(engine.dialect) else SharedRequestRates(engine, per_minute)
