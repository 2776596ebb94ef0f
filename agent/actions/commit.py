"""The door for a person's corrections: each is one step of the run, and the answer is written anew from what
is accepted then.

    correct(bench, run_id, "pin", lambda state, step: revised(state, step, facts=[...], why="pinned 1 fact"))

What is done is worked out by a pure function of the state (`make`); this module only sees to it that it is
recorded once, on the state it was worked out from, and that the worker rewrites the answer by itself where
there is one."""

from __future__ import annotations

from collections.abc import Callable

from agent.engine.run_state import RunState
from agent.engine.state import Change, merge, shallow_copy, to_jsonable
from agent.errors import ConcurrentChange, UsageError
from agent.flows import FLOWS
from agent.types import Status
from agent.workbench import Workbench

ANSWERED_STATUSES = (Status.REVIEW, Status.DONE)
"""Where there is an answer that a correction makes out of date."""
EDITABLE_FLOWS = ("research", "site")
"""The flows whose answer is written from their facts."""
MAX_ATTEMPTS = 20
"""How often a run that moves on meanwhile is looked at again before a person is asked to repeat."""


def commit_edit(
    bench: Workbench, run_id: str, name: str, make: Callable[[RunState, int], Change], head: int | None = None
) -> int:
    """Record a person's correction as a step called `name`; returns its number.

    `make` gets the state and the step's number and gives the change; it is asked again when the run moved on
    meanwhile. With `head`, the last step the person saw, a run that moved since is Overtaken instead. In
    review or done the answer is written anew; else only what the run knows changes. Raises NotFound,
    UsageError, Overtaken, and what `make` raises."""
    for _ in range(MAX_ATTEMPTS):
        view = bench.snapshot(run_id)
        flow = FLOWS[view.run.settings.flow]
        if flow.name not in EDITABLE_FLOWS:
            raise UsageError(
                f"what a {flow.name} run knows cannot be edited: its answer is written from the library's passages"
            )
        if head not in (None, view.head):
            raise ConcurrentChange("someone else (perhaps another tab) answered first; what they did stands")
        change = to_jsonable(make(view.state, view.head + 1))
        columns = merge(shallow_copy(view.state), change).summary()
        again = (
            {"next": flow.write_up_step, "status": Status.RUNNING, "control": ""}
            if view.run.status in ANSWERED_STATUSES
            else {}
        )
        try:
            step = bench.store.ledger.append_person_step(
                run_id, name, change, head=view.head, among=(view.run.status,), **columns, **again
            )  # type: ignore[arg-type]
        except ConcurrentChange:
            now = bench.snapshot(run_id)
            if head is not None or (now.head, now.run.status) == (view.head, view.run.status):
                raise
            continue
        bench.worker.schedule(run_id)
        return step
    raise ConcurrentChange("the run moves too fast to be corrected now: pause it, then try again")
