"""Which rows of a batch start now: as many as may work side by side, as long as its budget lasts. Knows the
store, no screen.

`tend` may be called by any process, any number of times: the store lets each row be started once. Driving the
runs is for others."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress

from agent.batch.csv_input import settings_for_row
from agent.engine.context import RESERVED_SHARE
from agent.engine.state import to_jsonable
from agent.errors import ConcurrentChange, UsageError
from agent.flows import FLOWS
from agent.store.database import Store
from agent.types import Batch, BatchBudget, BatchRow, Status, Step, Usage

log = logging.getLogger(__name__)
MAX_TRIES = 3
BUDGET_REASON_PREFIX = "the budget of the batch: "
"""How the reason begins why such a run stopped."""


def describe_exhausted_budget(
    allowance: BatchBudget, spent: Usage, share: float = 1.0 - RESERVED_SHARE
) -> str:
    """Which part of a batch's budget is used up to this share, as a sentence; "" for none. The rest is kept
    back for the answers."""
    tokens = spent.prompt_tokens + spent.completion_tokens
    if spent.llm_calls and spent.llm_calls >= allowance.max_calls * share:
        return f"{BUDGET_REASON_PREFIX}{spent.llm_calls:,} of {allowance.max_calls:,} model calls are used"
    if tokens and tokens >= allowance.max_tokens * share:
        return f"{BUDGET_REASON_PREFIX}{tokens:,} of {allowance.max_tokens:,} tokens are used"
    if spent.cost_usd and spent.cost_usd >= allowance.max_cost_usd * share:
        return f"{BUDGET_REASON_PREFIX}${spent.cost_usd:.2f} of ${allowance.max_cost_usd:.2f} is spent"
    if spent.seconds >= allowance.max_minutes * 60 * share:
        return f"{BUDGET_REASON_PREFIX}{spent.seconds / 60:.1f} of {allowance.max_minutes:g} minutes of work are used"
    return ""


def schedule_batches(store: Store) -> list[str]:
    """Start what may start in every batch that runs; returns the runs that have something to do now.

    A batch that cannot be tended is stopped: it holds no other up.
    """
    started = []
    for batch_id in store.batches.list_running():
        try:
            started += schedule_batch(store, store.batches.get(batch_id))
        except (UsageError, LookupError, TypeError, ValueError) as trouble:
            log.error("the batch %s is stopped: %s", batch_id, trouble)
            store.batches.set_state(batch_id, state="stopped", among=("running",))
    return started


def schedule_batch(store: Store, batch: Batch) -> list[str]:
    """Start what may start of one batch; returns its runs that have something to do now. Marks it `spent` or
    `done`."""
    rows = store.batches.rows(batch.id)
    waiting = [row for row in rows if row.state == "waiting" and not row.same_as]
    busy = sum(row.state == "running" and not row.same_as for row in rows)
    if not waiting and not busy:
        store.batches.set_state(batch.id, state="done", among=("running",))
        return []
    if not waiting or busy >= batch.allowance.side_by_side:
        return []
    if describe_exhausted_budget(batch.allowance, store.batches.sum_usage(batch.id)):
        if not busy:  # until then its budget binds those at work
            store.batches.set_state(batch.id, state="spent", among=("running",))
        return []
    room = batch.allowance.side_by_side - busy
    return list(filter(None, (_start_row(store, batch, row) for row in waiting[:room])))


def make_budget_check(store: Store, run_id: str) -> Callable[[float], str]:
    """What a run's toolbox asks before it spends: has the batch it belongs to used its budget up to this
    share?

    Only while the batch runs: what a person does with a row of it afterwards is theirs, within the run's own
    budgets."""
    batch_id = store.batches.batch_of_run(run_id)

    def asked(share: float) -> str:
        batch = store.batches.get(batch_id)
        return (
            describe_exhausted_budget(batch.allowance, store.batches.sum_usage(batch_id), share)
            if batch.state == "running"
            else ""
        )

    return asked if batch_id else lambda share: ""


def _start_row(store: Store, batch: Batch, row: BatchRow) -> str:
    if row.again:
        return row.run_id if _resume_row(store, batch, row) else ""
    settings = settings_for_row(row, batch.settings)
    change = to_jsonable({"question": row.question, "settings": settings})
    first = Step(n=0, name="ask", change=change, next=FLOWS[settings.flow].first_step, by="person")
    return store.batches.start_row(batch.id, row.n, row.question, settings, first)


def _resume_row(store: Store, batch: Batch, row: BatchRow) -> bool:
    """Let a run that rests go on where it stood; one that the budget had cut short looks on. What a person
    does meanwhile stands."""
    for _ in range(MAX_TRIES):
        run, (head, upcoming, _) = store.ledger.get(row.run_id), store.ledger.position(row.run_id)
        flow, word = (
            FLOWS[run.settings.flow],
            {"head": head, "among": (run.status,), "control": "", "error": ""},
        )
        if run.status is Status.REVIEW:
            anew = {"control": "resumed", "why_stopped": "", "stop_reason": "", "pending": None}
            word |= {"change": anew, "next": flow.reentry_step, "status": Status.RUNNING}
        elif run.status in (Status.PAUSED, Status.STOPPED, Status.FAILED):
            word |= {
                "change": {"control": "resumed"},
                "status": flow.rest_statuses.get(upcoming, Status.RUNNING),
            }
        else:
            store.batches.unmark_row(batch.id, row.n)
            return False
        with suppress(ConcurrentChange):  # it moved at this very moment: look again
            return store.batches.resume_row(batch.id, row.n, run.id, **word)
    return False
