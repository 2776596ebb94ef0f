"""Which rows of a batch start now: as many as may run in parallel, as long as its budget lasts.

Any process may call it, any number of times: each row starts once. It does not drive the runs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import suppress

from agent.engine.context import RESERVED_SHARE
from agent.engine.loop import Flow
from agent.engine.run_settings import settings_for_row
from agent.engine.state import to_jsonable
from agent.errors import ConcurrentChange, UsageError
from agent.store.database import Store
from agent.types import Batch, BatchBudget, BatchRow, Status, Step, Usage
from agent.types.batches import BatchState, BudgetMeter, meter_usage

log = logging.getLogger(__name__)
MAX_TRIES = 3
BUDGET_REASON_PREFIX = "the budget of the batch: "
"""Starts the stop reason of a run that the batch's budget ended."""


def describe_exhausted_budget(
    allowance: BatchBudget, usage: Usage, share: float = 1.0 - RESERVED_SHARE
) -> str:
    """Which budget of a batch is used up to this share (the rest is for answers), as a sentence; or ""."""
    minutes = BudgetMeter(name="seconds", used=usage.seconds, cap=allowance.max_minutes * 60)
    for meter in (*meter_usage(usage, allowance), minutes):
        if meter.used and meter.used >= meter.cap * share:
            return meter.description
    return ""


class BatchScheduler:
    """Starts the rows of the batches of a store."""

    def __init__(self, store: Store, flows: Mapping[str, Flow]) -> None:
        self.store, self.flows = store, flows

    def schedule_all(self) -> list[str]:
        """Start what may start in every running batch; returns the runs that have something to do now. A
        batch that cannot be read is stopped, so that it holds up no other."""
        started = []
        for batch_id in self.store.batches.list_running():
            try:
                started += self.schedule(self.store.batches.get(batch_id))
            except (UsageError, LookupError, TypeError, ValueError) as error:
                log.error("the batch %s is stopped: %s", batch_id, error)
                self.store.batches.set_state(batch_id, state="stopped", among=("running",))
        return started

    def schedule(self, batch: Batch) -> list[str]:
        """Start what may start of one batch; returns its runs that have something to do now. Sets the batch
        to `spent` or `done` when that is reached, to `stopped` when a run rests."""
        rows = self.store.batches.rows(batch.id)
        waiting = [row for row in rows if row.state == "waiting" and not row.same_as]
        busy = sum(row.state == "running" and not row.same_as for row in rows)
        if not waiting and not busy:
            is_resting = any(row.state == "resting" for row in rows)
            ended: BatchState = "stopped" if is_resting else "done"
            self.store.batches.set_state(batch.id, state=ended, among=("running",))
            return []
        if not waiting or busy >= batch.allowance.side_by_side:
            return []
        if describe_exhausted_budget(batch.allowance, self.store.batches.sum_usage(batch.id)):
            if not busy:  # until then the budget limits those that run
                self.store.batches.set_state(batch.id, state="spent", among=("running",))
            return []
        started: list[str] = []
        for row in waiting[: batch.allowance.side_by_side - busy]:
            if row.again:
                started += [row.run_id] if self._resume_row(batch, row) else []
                continue
            settings = settings_for_row(row, batch.settings)
            change = to_jsonable({"question": row.question, "settings": settings})
            next = self.flows[settings.flow].first_step
            first = Step(n=0, name="ask", change=change, next=next, by="person")
            started.append(self.store.batches.start_row(batch.id, row.n, row.question, settings, first))
        return list(filter(None, started))

    def make_budget_check(self, run_id: str) -> Callable[[float], str]:
        """A function that says whether the batch of a run has used this share of its budget: a sentence, ""
        for no. Only a running batch limits its runs."""
        batch_id = self.store.batches.batch_of_run(run_id)

        def check(share: float) -> str:
            batch = self.store.batches.get(batch_id)
            if batch.state != "running":
                return ""
            usage = self.store.batches.sum_usage(batch_id)
            exhausted = describe_exhausted_budget(batch.allowance, usage, share)
            return exhausted and f"{BUDGET_REASON_PREFIX}{exhausted}"

        return check if batch_id else lambda share: ""

    def _resume_row(self, batch: Batch, row: BatchRow) -> bool:
        """Resume a run that rests; one that the batch's budget had ended searches on. False when a person has
        done something else with it meanwhile."""
        for _ in range(MAX_TRIES):
            run = self.store.ledger.get(row.run_id)
            head, upcoming, _ = self.store.ledger.position(row.run_id)
            flow = self.flows[run.settings.flow]
            if run.status is Status.REVIEW:
                change = {"control": "resumed", "why_stopped": "", "stop_reason": "", "pending": None}
                next, status = flow.reentry_step, Status.RUNNING
            elif run.status in (Status.PAUSED, Status.STOPPED, Status.FAILED):
                change, next = {"control": "resumed", "halt": None}, ""
                status = flow.rest_statuses.get(upcoming, Status.RUNNING)
            else:
                self.store.batches.mark_for_resume(batch.id, [row.n], again=False)
                return False
            columns = {"status": status, "control": "", "error": ""}
            with suppress(ConcurrentChange):  # the run moved at this moment: read it again
                return self.store.batches.resume_row(
                    batch.id,
                    row.n,
                    run.id,
                    change=change,
                    next=next,
                    head=head,
                    among=(run.status,),
                    **columns,
                )
        return False
