"""Quotas: how much a person may use, at once and a day (UTC), and the sentences for one that is used up.

What was used is read from the person's own store, plus what is recorded here: of data that was deleted, and
of replies that are stored nowhere."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Engine, func, select
from sqlalchemy.dialects.sqlite import insert

from agent.accounts import tables
from agent.accounts.audit import AuditLog
from agent.accounts.people import Person
from agent.errors import UsageError
from agent.store import tables as run_tables
from agent.store.database import Store
from agent.store.ledger import utc_timestamp
from agent.store.table_access import TableAccess
from agent.store.write_lock import Writer
from agent.types import Status
from agent.types.budget import BudgetMeter

q, u = tables.quotas.c, tables.uses.c
ASK_ADMIN = "your quota begins anew at midnight (UTC), or when an admin raises it"


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

    def __add__(self, other: DayUse) -> DayUse:
        return DayUse(self.pages + other.pages, self.tokens + other.tokens, self.dollars + other.dollars)


def measure_day(store: Store) -> DayUse:
    """What the runs of a store used today, those in the bin too; each address of the live web is one page."""
    since = utc_timestamp()[:10]
    calls = run_tables.calls.c
    tokens = func.coalesce(func.sum(calls.tokens_in + calls.tokens_out), 0)
    dollars = func.coalesce(func.sum(calls.cost_usd), 0.0)
    fetched = select(func.count()).where(run_tables.fetched_addresses.c.fetched_at >= since)
    with store.engine.connect() as connection:
        spent = connection.execute(select(tokens, dollars).where(calls.at >= since)).one()
        return DayUse(connection.scalar(fetched) or 0, int(spent[0]), float(spent[1]))


def describe_overrun(quota: Quota, used: DayUse, share: float = 1.0) -> str:
    """How much is used of the quota of the day that is used up to this share, as a sentence; "" for none."""
    for meter in (
        BudgetMeter(name="pages", used=used.pages, cap=quota.pages),
        BudgetMeter(name="tokens", used=used.tokens, cap=quota.tokens),
        BudgetMeter(name="cost", used=used.dollars, cap=quota.dollars),
    ):
        if meter.used and meter.used >= meter.cap * share:
            kept = ", the rest is kept for answers" if meter.used < meter.cap else ""
            return f"{meter.description} today{kept}: {ASK_ADMIN}"
    return ""


class Quotas(TableAccess):
    """The quotas of everybody; who has none of their own has the defaults."""

    def __init__(self, reader: Engine, writer: Writer, audit: AuditLog, defaults: Quota) -> None:
        super().__init__(reader, writer)
        self._audit, self.defaults = audit, defaults

    def get(self, person_id: str) -> Quota:
        """A person's quota."""
        row = self._row(select(q.runs, q.pages, q.tokens, q.dollars).where(q.person_id == person_id))
        return Quota(*row) if row else self.defaults

    def set(self, actor: Person, person_id: str, quota: Quota) -> None:
        """Give a person a quota of their own. Raises UsageError."""
        if quota.runs < 1 or min(quota.pages, quota.tokens, quota.dollars) < 0:
            raise UsageError("a quota needs at least one run, and nothing below 0")
        values = vars(quota)
        row = insert(tables.quotas).values(person_id=person_id, **values)
        self._write(row.on_conflict_do_update(index_elements=["person_id"], set_=values))
        told = (
            f"{person_id}: {quota.runs} runs, {quota.pages} pages, {quota.tokens} tokens, ${quota.dollars:g}"
        )
        self._audit.add(actor.id, "set quota", told)

    def record_use(self, person_id: str, use: DayUse) -> None:
        """Count use of today that the person's store does not show."""
        row = insert(tables.uses).values(person_id=person_id, day=utc_timestamp()[:10], **vars(use))
        added = {name: u[name] + row.excluded[name] for name in vars(use)}
        self._write(row.on_conflict_do_update(index_elements=["person_id", "day"], set_=added))

    def sum_day(self, person_id: str, store: Store) -> DayUse:
        """All that a person used today."""
        mine = (u.person_id == person_id, u.day == utc_timestamp()[:10])
        row = self._row(select(u.pages, u.tokens, u.dollars).where(*mine))
        return measure_day(store) + (DayUse(*row) if row else DayUse())

    def describe_overrun(self, person_id: str, store: Store, share: float = 1.0) -> str:
        """Which quota of the day this person has used up to this share, as a sentence; "" for none."""
        return describe_overrun(self.get(person_id), self.sum_day(person_id, store), share)

    def describe_start_refusal(self, person_id: str, store: Store) -> str:
        """Why this person may start no further run now, as a sentence; "" when they may."""
        quota = self.get(person_id)
        runs = run_tables.runs.c
        with store.engine.connect() as connection:
            at_work = select(func.count()).where(runs.status == Status.RUNNING, runs.deleted_at == "")
            busy = connection.scalar(at_work) or 0
        if busy >= quota.runs:
            works = "run of yours is" if busy == 1 else "runs of yours are"
            return (
                f"{busy} {works} at work, and {quota.runs} is your quota: wait until one rests, or pause one"
            )
        return self.describe_overrun(person_id, store)
