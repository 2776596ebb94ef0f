"""How an act becomes a step of a run: worked out from the run's state, and recorded once, on that state.

A run can move while the step is worked out. Then it is worked out again; with `head`, the last step the
person saw, ConcurrentChange is raised instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from agent.engine.snapshots import RunSnapshot, SnapshotCache
from agent.engine.state import Change, find_undone, state_after, to_jsonable
from agent.engine.worker import Worker
from agent.errors import ConcurrentChange
from agent.flows import FLOWS
from agent.settings.config import Config
from agent.store.database import Store
from agent.store.ledger import ANSWERED_FIRST
from agent.types import Settings, Status, Step

ANSWERED_STATUSES = (Status.REVIEW, Status.DONE)
"""Statuses of a run whose answer an edit makes out of date."""
UNANSWERED_STATUSES = (Status.RUNNING, Status.PAUSED, Status.STOPPED, Status.FAILED)
EDITABLE_FLOWS = ("research", "site")
"""The flows whose answer is written from their facts."""
ACCEPTING_FLOWS = ("research", "site", "check_text")
"""The flows that accept pages from a person."""
GO_ON = {"status": Status.RUNNING, "control": ""}
"""Columns of a run that works again."""
RECOVER = {**GO_ON, "error": ""}
MAX_ATTEMPTS = 20
"""Attempts on a run that moves on each time."""


@dataclass(frozen=True)
class PersonStep:
    """A step to record: its change, the next step ("" keeps the run's), columns of the run's row to set, and
    its name, where it is not that of the act."""

    change: Change
    next: str = ""
    columns: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""


def commit(
    bench: ActionContext,
    run_id: str,
    name: str,
    make: Callable[[RunSnapshot], PersonStep | None],
    *,
    head: int | None = None,
) -> int:
    """Record a person's step called `name` and wake the worker; returns the step's number.

    `make` works the step out from the run as it is, None when nothing changes; it may be called again. Raises
    ConcurrentChange when the run moved since `head`, NotFound, and what `make` raises."""
    for _ in range(MAX_ATTEMPTS):
        view = bench.snapshot(run_id)
        if head not in (None, view.head):
            raise ConcurrentChange(ANSWERED_FIRST)
        if (step := make(view)) is None:
            return view.head
        change, same, named = to_jsonable(step.change), (view.run.status,), step.name or name
        state = state_after(view.state, change)
        undoing = Step(n=view.head + 1, name="", change=change, next="", by="person")
        if find_undone([undoing]):  # it takes another step out of the fold
            state = FLOWS[view.run.settings.flow].fold_steps([*view.steps, undoing])
        columns = {**state.summary(), **step.columns}
        append = bench.store.ledger.append_person_step
        try:
            n = append(run_id, named, change, next=step.next, head=view.head, among=same, **columns)
        except ConcurrentChange:
            now = bench.snapshot(run_id)
            if head is not None or (now.head, now.run.status) == (view.head, view.run.status):
                raise
            continue
        return n
    raise ConcurrentChange("the run moves too fast to be changed now: pause it, then try again")


def edit_step(view: RunSnapshot, change: Change, name: str = "") -> PersonStep:
    """The step of an edit of what a run knows: in review or done the answer is written again."""
    if view.run.status in ANSWERED_STATUSES:
        return PersonStep(change, FLOWS[view.run.settings.flow].write_up_step, GO_ON, name)
    return PersonStep(change, name=name)


class ActionContext(Protocol):
    """The part of the workbench that actions use."""

    config: Config
    store: Store
    worker: Worker
    snapshots: SnapshotCache

    def snapshot(self, run_id: str) -> RunSnapshot:
        """The run as it is now. Raises NotFound."""

    def start(self, question: str, settings: Settings) -> str:
        """A new run; returns its id. Raises UsageError."""
