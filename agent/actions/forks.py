"""Going on from any step of a run: a new run that shares its first steps, and leaves the first as it is.

    fork(bench, run_id, 7, note="Only use the registry.", max_steps=20)

The ledger is the truth: the shared steps are copied with their numbers, and the new run's state is their
fold. What its model calls cost is copied with them and shown, but counts for no budget of the new run. It is
a conversation of its own."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from agent.actions import validation
from agent.engine.loop import Flow
from agent.engine.run_state import RunState
from agent.engine.state import Change, to_jsonable
from agent.errors import UsageError
from agent.flows import FLOWS
from agent.store.ledger import utc_timestamp
from agent.types import ModelCall, Note, Run, Settings, Status, Step, Usage
from agent.workbench import RunSnapshot, Workbench

FORKABLE_FLOWS = ("research", "site", "collect")
"""Flows that a person steers; the others speak once and are asked anew."""
CHANGEABLE_SETTINGS = (
    "mode",
    "until",
    "at_cap",
    "model",
    "fast_model",
    "threshold",
    "max_steps",
    "max_pages",
    "max_calls",
    "max_tokens",
    "max_cost_usd",
    "max_seconds",
)
"""The settings a fork may change: how it works and how far it may go, not where it looked."""


def fork_run(bench: Workbench, run_id: str, n: int, *, note: str = "", **changed: Any) -> str:
    """A new run that shares the steps 0 to `n` of a run and goes on from there; returns its id.

    With a `note` (a constraint that its next decision heeds) or `changed` settings, what was only decided at
    step `n` is decided anew; without, it stands where the run stood. Raises NotFound, UsageError."""
    run, steps = bench.store.ledger.get(run_id), bench.store.ledger.steps(run_id)
    if run.settings.flow not in FORKABLE_FLOWS:
        raise UsageError(
            f"a {run.settings.flow} run speaks once and cannot be gone on from: ask anew in other words instead"
        )
    if not 0 <= n <= steps[-1].n:
        raise UsageError(f"run {run_id} has no step {n}: its steps are 0 to {steps[-1].n}")
    flow, prefix = FLOWS[run.settings.flow], steps[: n + 1]
    state: RunState = flow.fold_steps(prefix)
    settings = _build_settings(state.settings, changed, foreign=bool(run.imported))
    change, next = _plan_next_step(
        flow, state, prefix[-1], note.strip(), anew=bool(set(changed) - {"at_cap"})
    )
    change |= {"control": "forked", "forked_at": n + 1, "halt": None, "settings": settings}
    change |= state.own.fork_change()
    went = Step(n=n + 1, name="fork", change=to_jsonable(change), next=next, by="person", at=utc_timestamp())
    return _store_fork(bench, run, [*prefix, went], settings)


def find_parent_run(bench: Workbench, run: Run) -> Run | None:
    """The run that a fork went on from, when it is still there."""
    try:
        return bench.store.ledger.get(run.forked_from) if run.forked_from else None
    except UsageError:
        return None


def measure_shared_usage(bench: Workbench, view: RunSnapshot) -> Usage:
    """What of a fork's usage is that of the steps it shares: shown, not paid again. Nothing for a run that is
    no fork."""
    return measure_usage_up_to(bench, view, view.run.forked_at) if view.run.forked_from else Usage()


def measure_usage_up_to(bench: Workbench, view: RunSnapshot, n: int) -> Usage:
    """What the steps 0 to `n` of a run have cost."""
    spent, later, steps = (
        view.usage,
        bench.store.calls.sum_usage(view.run.id, n),
        [step for step in view.steps if step.n <= n],
    )
    known = spent.cost_usd is not None and later.cost_usd is not None
    return Usage(
        llm_calls=spent.llm_calls - later.llm_calls,
        prompt_tokens=spent.prompt_tokens - later.prompt_tokens,
        completion_tokens=spent.completion_tokens - later.completion_tokens,
        cost_usd=(spent.cost_usd or 0.0) - (later.cost_usd or 0.0) if known else None,
        seconds=round(sum(step.seconds for step in steps), 2),
        cpu_seconds=round(sum(step.cpu_ms for step in steps) / 1000, 3),
    )


def _build_settings(was: Settings, changed: dict[str, Any], *, foreign: bool) -> Settings:
    """The settings of the new run. Those of a run that came in a bundle are cut to what can be set here,
    whichever step they are of."""
    if strange := set(changed) - set(CHANGEABLE_SETTINGS):
        raise UsageError(f"a fork cannot change {', '.join(sorted(strange))}: ask anew instead")
    base = validation.clamp_imported_settings(was) if foreign else was
    try:
        chosen = Settings.model_validate(base.model_dump() | changed | {"thread_id": ""})
    except ValidationError as wrong:
        first = wrong.errors()[0]
        raise UsageError(
            f"the setting {first['loc'][0] if first['loc'] else ''} cannot be so: {first['msg']}"
        ) from wrong
    validation.check_new_run("?", chosen, FLOWS)
    return chosen


def _plan_next_step(flow: Flow, state: RunState, last: Step, note: str, *, anew: bool) -> tuple[Change, str]:
    """Where the new run goes after the `last` step that it shares, and what of the state is taken back for
    it."""
    next, n = last.next, last.n + 1
    if flow.rest_statuses.get(next) is Status.DONE and state.answers and "review" in flow.rest_statuses:
        next = "review"  # an accepted answer can be looked at again
    rests = next in flow.rest_statuses or next == flow.write_up_step
    change: Change = {}
    if note:
        kind = "send_back" if flow.rest_statuses.get(next) is Status.REVIEW else "steer"
        change["notes"] = [Note(step=n, text=note, kind=kind)]  # type: ignore[arg-type]
    if (rests and (note or anew)) or (note and state.pending):
        return {**change, "pending": None, "why_stopped": "", "stop_reason": ""}, flow.reentry_step
    return change, next


def _store_fork(bench: Workbench, run: Run, steps: Sequence[Step], settings: Settings) -> str:
    """The new run with its steps, and the calls of those it shares; it works at once where it does not
    rest."""
    flow, went = FLOWS[settings.flow], steps[-1]
    state = flow.fold_steps(steps)
    run_id = uuid.uuid4().hex[:12]
    status = flow.rest_statuses.get(went.next, Status.RUNNING)
    bench.store.calls.add_if_absent(
        _copy_call(call, run_id) for call in bench.store.calls.list_for_run(run.id) if call.step < went.n
    )
    new = Run(
        id=run_id,
        question=run.question,
        status=status,
        settings=settings,
        created_at=went.at,
        updated_at=went.at,
        imported=run.imported,
        forked_from=run.id,
        forked_at=went.n - 1,
    )
    bench.store.ledger.add_if_absent(new, steps, **state.summary())
    if status is Status.RUNNING:
        bench.worker.schedule(run_id)
    return run_id


def _copy_call(call: ModelCall, run_id: str) -> ModelCall:
    """A call as one of the new run, under a key of its own: it answers for no call that is still to be
    made."""
    return call.model_copy(
        update={"run_id": run_id, "key": hashlib.sha256(f"{run_id}\n{call.key}".encode()).hexdigest()}
    )
