"""Quotas: what counts as used today, and the sentence for what is used up."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.accounts.quotas import DayUse, Quota, describe_overrun, measure_day
from agent.errors import UsageError
from agent.store.database import Store
from agent.store.ledger import utc_timestamp
from agent.types import ModelCall, Outcome, Page, Settings, Step

QUOTA = Quota(runs=2, pages=100, tokens=1000, dollars=5.0)


@pytest.fixture
def store():
    opened = Store.in_memory()
    yield opened
    opened.close()


def _call(key: str, at: str = "", cost: float | None = 0.25) -> ModelCall:
    return ModelCall(
        key=key,
        run_id="r",
        step=1,
        role="decision",
        model="m",
        prompt=[],
        reply="",
        prompt_tokens=30,
        completion_tokens=12,
        cost_usd=cost,
        at=at or utc_timestamp(),
    )


@pytest.mark.parametrize(
    ("used", "share", "told"),
    [
        (DayUse(99, 999, 4.99), 1.0, ""),
        (DayUse(100, 0, 0), 1.0, "100 of 100 pages are used"),
        (DayUse(0, 1000, 0), 1.0, "1,000 of 1,000 tokens"),
        (DayUse(0, 0, 5.0), 1.0, "$5.00 of $5.00 is spent today"),
        (DayUse(0, 899, 0), 0.9, ""),
        (
            DayUse(0, 900, 0),
            0.9,
            "900 of 1,000 tokens are used today, the rest is kept for answers: your",
        ),
        (DayUse(0, 1000, 0), 0.9, "are used today: your quota begins anew at midnight (UTC)"),
    ],
)
def test_a_quota_that_is_used_up_is_named(used: DayUse, share: float, told: str) -> None:
    sentence = describe_overrun(QUOTA, used, share)
    assert (told in sentence) if told else sentence == ""


def test_only_what_was_used_today_counts(store: Store) -> None:
    store.calls.record(_call("1"))
    store.calls.record(_call("2", cost=None))
    store.calls.record(_call("3", at="2020-01-01T00:00:00Z"))
    page = Page(
        url="https://a.example/1",
        final_url="https://a.example/1",
        text="x",
        outcome=Outcome.OK,
        fetched_at=utc_timestamp(),
    )
    store.pages.put_fetched([("https://a.example/1", page)])
    old = page.replace(
        url="https://a.example/2", final_url="https://a.example/2", text="y", fetched_at="2020-01-01"
    )
    store.pages.put_fetched([("https://a.example/2", old)])
    assert measure_day(store) == DayUse(pages=1, tokens=84, dollars=0.25)


def test_what_the_store_does_not_show_is_added(store: Store, sign_in, accounts) -> None:
    ann = sign_in("ann")
    store.calls.record(_call("1"))
    accounts.quotas.record_use(ann.id, DayUse(1, 10, 0.5))
    accounts.quotas.record_use(ann.id, DayUse(2, 20, 0.25))
    assert accounts.quotas.sum_day(ann.id, store) == DayUse(3, 72, 1.0)
    assert accounts.quotas.sum_day(sign_in("bo").id, store) == DayUse(0, 42, 0.25)


def test_no_run_starts_beyond_the_runs_at_work_or_the_quota_of_the_day(
    store: Store, sign_in, accounts
) -> None:
    ann = sign_in("ann")
    accounts.quotas.set(ann, ann.id, QUOTA)
    first = Step(n=0, name="ask", change={}, next="decide", by="person")
    assert accounts.quotas.describe_start_refusal(ann.id, store) == ""
    for _ in range(2):
        store.ledger.create("q", Settings(), first)
    assert "2 runs of yours are at work, and 2 is your quota" in accounts.quotas.describe_start_refusal(
        ann.id, store
    )
    accounts.quotas.set(ann, ann.id, replace(QUOTA, runs=3))
    accounts.quotas.record_use(ann.id, DayUse(tokens=1000))
    assert "1,000 of 1,000 tokens are used today" in accounts.quotas.describe_start_refusal(ann.id, store)


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
