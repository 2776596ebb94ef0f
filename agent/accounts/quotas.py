"""Quotas: how much a person may use, at once and a day (UTC), and the sentences for one that is used up; and
how often a caller may ask.

Use is claimed before the work, in the transaction that looks whether there is any left, so that work side by
side cannot pass together what one after the other could not; after the work what was used stands in its
place."""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import Connection, func, select
from sqlalchemy.dialects import postgresql, sqlite

from agent.accounts import tables
from agent.accounts.audit import AuditedTable, AuditLog
from agent.accounts.people import Person
from agent.errors import BudgetSpent, UsageError
from agent.store import tables as run_tables
from agent.store.database import Store
from agent.store.dialect import is_sqlite, lock_once, upsert
from agent.store.ledger import utc_timestamp
from agent.store.table_access import Writer
from agent.types import Status
from agent.types.batches import BudgetMeter

q, u = tables.quotas.c, tables.uses.c


@dataclass(frozen=True)
class Quota:
    """The most a person may use: runs at work at once; pages, tokens and US dollars a day."""

    runs: int
    pages: int
    tokens: int
    dollars: float


@dataclass(frozen=True)
class DayUse:
    """What was used today."""

    pages: int = 0
    tokens: int = 0
    dollars: float = 0.0


class Quotas(AuditedTable):
    """The quotas of everybody; who has none of their own has the defaults."""

    def __init__(self, writer: Writer, audit: AuditLog, defaults: Quota) -> None:
        super().__init__(writer, audit)
        self.defaults = defaults

    def get(self, person_id: str) -> Quota:
        """A person's quota."""
        row = self._read(select(q.runs, q.pages, q.tokens, q.dollars).where(q.person_id == person_id)).first()
        return Quota(*row) if row else self.defaults

    def set(self, actor: Person, person_id: str, quota: Quota) -> None:
        """Give a person a quota of their own. Raises UsageError."""
        if quota.runs < 1 or min(quota.pages, quota.tokens, quota.dollars) < 0:
            raise UsageError("a quota needs at least one run, and nothing below 0")
        with self._writer.begin() as connection:
            upsert(connection, tables.quotas, {"person_id": person_id, **vars(quota)})
        told = (
            f"{person_id}: {quota.runs} runs, {quota.pages} pages, {quota.tokens} tokens, ${quota.dollars:g}"
        )
        self._audit.add(actor.id, "set quota", told)

    def sum_day(self, person_id: str) -> DayUse:
        """All that a person used today."""
        mine = (u.person_id == person_id, u.day == utc_timestamp()[:10])
        row = self._read(select(u.pages, u.tokens, u.dollars).where(*mine)).first()
        return DayUse(*row) if row else DayUse()

    def describe_overrun(self, person_id: str, share: float = 1.0, claim: DayUse | None = None) -> str:
        """How much this person has used of a quota of the day that is used up to this share, as a sentence;
        "" for none. One of 0 is used up for who claims of it."""
        quota, used = self.get(person_id), self.sum_day(person_id)
        asked = claim or used
        if asked.pages and claim:  # a page takes of nothing else
            used = DayUse(used.pages)
        for meter, more in (
            (BudgetMeter(name="pages", used=used.pages, cap=quota.pages), asked.pages),
            (BudgetMeter(name="tokens", used=used.tokens, cap=quota.tokens), asked.tokens),
            (BudgetMeter(name="cost", used=used.dollars, cap=quota.dollars), asked.dollars),
        ):
            if ((done := meter.used or 0) or more) and done >= meter.cap * share:
                kept = ", the rest is kept for answers" if done < meter.cap else ""
                until = "your quota begins anew at midnight (UTC), or when an admin raises it"
                return f"{meter.description} today{kept}: {until}"
        return ""

    @contextmanager
    def reserve(
        self, person_id: str, share: float, tokens: int, dollars: float
    ) -> Iterator[Callable[[int, float], None]]:
        """Count the most that a model call may use, unless this share of a quota is used up; at the end what
        is given to the function this yields stands in its place, and nothing for a call that failed. What a
        killed process has counted stays. Raises BudgetSpent."""
        day, rest, claim = utc_timestamp()[:10], DayUse(0, -tokens, -dollars), DayUse(0, tokens, dollars)
        with self._writer.begin() as connection:
            lock_once(connection, person_id)  # what is read here stays true
            if over := self.describe_overrun(person_id, share, claim):
                raise BudgetSpent(over, cap="quota")
            _add_use(connection, person_id, claim, day)

        def settle(used: int, paid: float) -> None:
            nonlocal rest
            rest = DayUse(0, used - tokens, paid - dollars)

        try:
            yield settle
        finally:
            with self._writer.begin() as connection:
                _add_use(connection, person_id, rest, day)

    def take_page(self, person_id: str, pages: int = 1) -> str:
        """Count a page before it is fetched; why it may not be, as a sentence, "" when it may. One for which
        nothing was asked is given back as -1."""
        with self._writer.begin() as connection:
            lock_once(connection, person_id)
            over = self.describe_overrun(person_id, claim=DayUse(pages)) if pages > 0 else ""
            if not over:
                _add_use(connection, person_id, DayUse(pages))
            return over

    @contextmanager
    def admit_start(self, person_id: str, store: Store) -> Iterator[None]:
        """Create a run within this: no other start comes between. Raises UsageError when this person may
        start none now."""
        quota, runs = self.get(person_id), run_tables.runs.c
        at_work = select(func.count()).where(runs.status == Status.RUNNING, runs.deleted_at == "")
        with self._writer.begin() as starting:
            lock_once(starting, person_id)
            with store.engine.connect() as connection:
                busy = connection.scalar(at_work) or 0
            if busy >= quota.runs:
                works = "run of yours is" if busy == 1 else "runs of yours are"
                limit = f"{busy} {works} at work, and {quota.runs} is your quota"
                raise UsageError(f"{limit}: wait until one rests, or pause one")
            if over := self.describe_overrun(person_id):
                raise UsageError(over)
            yield


def _add_use(connection: Connection, person_id: str, use: DayUse, day: str = "") -> None:
    """Count use of a day, by default of today."""
    kind = sqlite if is_sqlite(connection.dialect) else postgresql
    row = kind.insert(tables.uses).values(person_id=person_id, day=day or utc_timestamp()[:10], **vars(use))
    added = {name: u[name] + row.excluded[name] for name in vars(use)}
    connection.execute(row.on_conflict_do_update(index_elements=["person_id", "day"], set_=added))


MAX_CALLERS = 10_000
"""Callers remembered; the one that asked longest ago is forgotten first."""


class RequestRates:
    """Requests a minute for each caller. Thread-safe; `per_minute` 0 is no limit."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._per_second, self._clock = float(per_minute), per_minute / 60, clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """Requests left and when that was counted, by caller."""
        self._lock = threading.Lock()

    def take(self, caller: str) -> int:
        """Count a request: 0 when it may be answered, else the whole seconds until the next one may."""
        if self._most <= 0:
            return 0
        with self._lock:
            now = self._clock()
            left, at = self._left.pop(caller, (self._most, now))
            left = min(self._most, left + (now - at) * self._per_second)
            wait = 0 if left >= 1 else math.ceil((1 - left) / self._per_second)
            self._left[caller] = (left if wait else left - 1, now)
            while len(self._left) > MAX_CALLERS:
                self._left.popitem(last=False)
            return wait
