"""Quotas: what counts as used today, and the sentence for what is used up."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from agent.accounts import quotas as quotas_module
from agent.accounts.quotas import DayUse, Quota
from agent.errors import BudgetSpent, ModelUnavailable, UsageError
from agent.store.database import Store
from agent.types import Settings, Step
from tests.agent.accounts.conftest import record_use

FIRST = Step(n=0, name="ask", change={}, next="decide", by="person")

QUOTA = Quota(runs=2, pages=100, tokens=1000, dollars=5.0)


@pytest.fixture
def store():
    opened = Store.in_memory()
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("used", "share", "told"),
    [
        (DayUse(99, 999, 4.99), 1.0, ""),
        (DayUse(100, 0, 0), 1.0, "100 of 100 pages are used"),
        (DayUse(0, 1000, 0), 1.0, "1,000 of 1,000 tokens"),
        (DayUse(0, 0, 5.0), 1.0, "$5.00 of $5.00 is spent today"),
        (DayUse(0, 899, 0), 0.9, ""),
        (DayUse(0, 900, 0), 0.9, "900 of 1,000 tokens are used today, the rest is kept for answers: your"),
        (DayUse(0, 1000, 0), 0.9, "are used today: your quota begins anew at midnight (UTC)"),
    ],
)
def test_a_quota_that_is_used_up_is_named(used: DayUse, share: float, told: str, sign_in, accounts) -> None:
    ann, quotas = sign_in("ann"), accounts.quotas
    quotas.set(ann, ann.id, QUOTA)
    record_use(quotas, ann.id, used)
    sentence = quotas.describe_overrun(ann.id, share)
    assert (told in sentence) if told else sentence == ""


def test_what_is_used_adds_up_for_a_day_and_a_person(sign_in, accounts, monkeypatch) -> None:
    ann, quotas = sign_in("ann"), accounts.quotas
    record_use(quotas, ann.id, DayUse(1, 10, 0.5))
    record_use(quotas, ann.id, DayUse(2, 20, 0.25))
    assert quotas.sum_day(ann.id) == DayUse(3, 30, 0.75) and quotas.sum_day(sign_in("bo").id) == DayUse()
    monkeypatch.setattr("agent.accounts.quotas.utc_timestamp", lambda: "2099-01-01T00:00:00Z")
    assert quotas.sum_day(ann.id) == DayUse()


def test_no_run_starts_beyond_the_runs_at_work_or_the_quota_of_the_day(
    store: Store, sign_in, accounts
) -> None:
    ann, quotas = sign_in("ann"), accounts.quotas
    quotas.set(ann, ann.id, QUOTA)
    for _ in range(2):
        with quotas.admit_start(ann.id, store):
            store.ledger.create("q", Settings(), FIRST)
    with pytest.raises(UsageError, match="2 runs of yours are at work, and 2 is your quota"):
        quotas.admit_start(ann.id, store).__enter__()
    quotas.set(ann, ann.id, replace(QUOTA, runs=3))
    record_use(quotas, ann.id, DayUse(tokens=1000))
    with pytest.raises(UsageError, match="1,000 of 1,000 tokens are used today"):
        quotas.admit_start(ann.id, store).__enter__()


def at_once(count: int, do: Callable[[int], bool]) -> int:
    """How many of so many threads that begin together succeed."""
    begin = threading.Barrier(count)

    def run(n: int) -> bool:
        begin.wait()
        return do(n)

    with ThreadPoolExecutor(count) as threads:
        return sum(threads.map(run, range(count)))


@pytest.mark.parametrize("quota", [1, 2, 5, 20])
def test_of_many_starts_at_once_as_many_succeed_as_the_quota_says(
    quota: int, sign_in, accounts, tmp_path
) -> None:
    ann, quotas = sign_in("ann"), accounts.quotas
    quotas.set(ann, ann.id, replace(QUOTA, runs=quota))
    store = Store(f"sqlite:///{tmp_path / 'runs.db'}")

    def start(n: int) -> bool:
        try:
            with quotas.admit_start(ann.id, store):
                store.ledger.create(f"q{n}", Settings(), FIRST)
        except UsageError:
            return False
        return True

    assert at_once(20, start) == len(store.ledger.list()) == quota
    store.close()


@pytest.mark.parametrize("quota", [1, 7, 16])
def test_of_many_fetches_at_once_as_many_are_made_as_the_quota_says(quota: int, sign_in, accounts) -> None:
    ann, quotas = sign_in("ann"), accounts.quotas
    quotas.set(ann, ann.id, replace(QUOTA, pages=quota))
    assert at_once(16, lambda n: quotas.take_page(ann.id) == "") == quota
    assert quotas.sum_day(ann.id).pages == quota
    quotas.take_page(ann.id, -1)
    assert quotas.take_page(ann.id) == "" and "pages are used today" in quotas.take_page(ann.id)


@pytest.mark.parametrize("seed", range(6))
def test_calls_at_once_use_at_most_one_call_more_than_the_quota(seed: int, sign_in, accounts) -> None:
    """Calls of any size in 8 threads, each within its estimate: whenever one begins, less than the quota is used
    or reserved, so at the end at most one call has gone over; what failed is not counted; nothing stays reserved."""
    dice, ann, quotas = random.Random(seed), sign_in("ann"), accounts.quotas
    quota = dice.choice([1, 100, 5_000])
    quotas.set(ann, ann.id, replace(QUOTA, tokens=quota))
    plan = [[(size := dice.randint(1, 900), dice.randint(0, size)) for _ in range(12)] for _ in range(8)]
    used: list[int] = []

    def work(n: int) -> bool:
        for estimate, actual in plan[n]:
            try:
                with quotas.reserve(ann.id, 1.0, estimate, 0.0) as settle:
                    if actual % 5 == 0:
                        raise ModelUnavailable("no reply")
                    settle(actual, 0.0)
                used.append(actual)
            except (BudgetSpent, ModelUnavailable):
                pass
        return True

    assert at_once(8, work) == 8
    assert quotas.sum_day(ann.id).tokens == sum(used) < quota + 900


def test_a_call_under_way_counts_and_one_that_was_killed_stays_counted(
    sign_in, accounts, monkeypatch
) -> None:
    ann, quotas = sign_in("ann"), accounts.quotas
    quotas.set(ann, ann.id, QUOTA)
    held, killed = (quotas.reserve(ann.id, 1.0, tokens, 0.5) for tokens in (700, 5_000))
    settle = held.__enter__()
    killed.__enter__()  # the process ends here: nobody settles it
    with pytest.raises(BudgetSpent, match="5,700 of 1,000 tokens are used today"):
        quotas.reserve(ann.id, 1.0, 1, 0.0).__enter__()
    today = quotas_module.utc_timestamp()
    monkeypatch.setattr(quotas_module, "utc_timestamp", lambda: "2099-01-01T00:00:00Z")
    settle(7, 0.25)
    held.__exit__(None, None, None)
    assert quotas.sum_day(ann.id) == DayUse(), "what began before midnight is of that day"
    monkeypatch.setattr(quotas_module, "utc_timestamp", lambda: today)
    assert quotas.sum_day(ann.id) == DayUse(0, 5_007, 0.75) and "5,007 of" in quotas.describe_overrun(ann.id)


def test_money_is_reserved_too(sign_in, accounts) -> None:
    ann, quotas = sign_in("ann"), accounts.quotas
    quotas.set(ann, ann.id, QUOTA)
    with quotas.reserve(ann.id, 1.0, 1, 5.0) as settle:
        with pytest.raises(BudgetSpent, match=r"\$5.00 of \$5.00 is spent today"):
            quotas.reserve(ann.id, 1.0, 1, 0.1).__enter__()
        settle(1, 0.5)
    with quotas.reserve(ann.id, 1.0, 1, 0.1):
        pass
    assert quotas.sum_day(ann.id) == DayUse(0, 1, 0.5)


def test_a_quota_of_ones_own_stands_above_the_defaults(sign_in, accounts) -> None:
    ann = sign_in("ann")
    assert accounts.quotas.get(ann.id) == accounts.quotas.defaults
    accounts.quotas.set(ann, ann.id, QUOTA)
    accounts.quotas.set(ann, ann.id, replace(QUOTA, runs=7))
    assert (
        accounts.quotas.get(ann.id).runs == 7 and accounts.quotas.get("someone") == accounts.quotas.defaults
    )
    for wrong in (replace(QUOTA, runs=0), replace(QUOTA, pages=-1), replace(QUOTA, dollars=-0.01)):
        with pytest.raises(UsageError, match="at least one run"):
            accounts.quotas.set(ann, ann.id, wrong)


def test_a_quota_of_0_lets_none_through_and_stops_nothing_else(sign_in, accounts) -> None:
    ann = sign_in("ann")
    accounts.quotas.set(ann, ann.id, Quota(runs=1, pages=0, tokens=10, dollars=0.0))
    assert "0 of 0 pages" in accounts.quotas.take_page(ann.id)
    with accounts.quotas.reserve(ann.id, 1.0, 5, 0.0) as settle:  # a model that costs nothing
        settle(5, 0.0)
    with pytest.raises(BudgetSpent, match=r"\$0\.00"), accounts.quotas.reserve(ann.id, 1.0, 5, 0.01):
        raise AssertionError("a call was paid")
    assert accounts.quotas.describe_overrun(ann.id) == "" and accounts.quotas.sum_day(ann.id).pages == 0
    bo = sign_in("bo")
    accounts.quotas.set(ann, bo.id, Quota(runs=1, pages=1, tokens=0, dollars=1.0))
    with pytest.raises(BudgetSpent), accounts.quotas.reserve(bo.id, 1.0, 5, 0.01):
        raise AssertionError("a call was made")
    record_use(accounts.quotas, bo.id, DayUse(tokens=5, dollars=2.0))
    assert accounts.quotas.take_page(bo.id) == "", "a page takes neither tokens nor money"
