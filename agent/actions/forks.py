"""Branching from any step of a run: a new run that shares its first steps; the first run stays as it is.

The shared steps are copied with their numbers, and the new run's state is their fold. The usage of their
calls is copied and shown, but counts for no budget of the new run, a conversation of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, ValidationError

from agent.actions import validation
from agent.actions.commit import ActionContext
from agent.actions.run_control import Private
from agent.engine.loop import Flow
from agent.engine.run_state import RunState
from agent.engine.state import Change, to_jsonable
from agent.errors import UsageError, describe_faults
from agent.flows import FLOWS
from agent.store.ledger import name_program, new_id, utc_timestamp
from agent.types import Note, Run, Settings, Status, Step

CHANGEABLE_SETTINGS = frozenset(
    "mode until at_cap model fast_model threshold max_steps max_pages max_calls max_tokens max_cost_usd "
    "max_seconds".split()
)
"""The settings a fork may change: how it works and how far it goes, not where it searches."""


def fork(
    bench: ActionContext,
    run_id: str,
    step: Annotated[int, Field(description="the last step to keep, by its number in the ledger")],
    note: Annotated[str, Field(description="a constraint for its next decision")] = "",
    private: Private = False,
    settings: Annotated[
        Mapping[str, Any] | None,
        Field(
            description=f"what is otherwise in the new run, as JSON: {', '.join(sorted(CHANGEABLE_SETTINGS))}"
        ),
    ] = None,
) -> str:
    """Go on from a step of the run in a new run, which shares the steps before; returns its id. With a note
    or other settings what that step only decided is decided again."""
    run, steps = bench.store.ledger.get(run_id), bench.store.ledger.steps(run_id)
    if not 0 <= step <= steps[-1].n:
        raise UsageError(f"run {run_id} has no step {step}: its steps are 0 to {steps[-1].n}")
    changed = dict(settings or {})
    flow, shared = FLOWS[run.settings.flow], steps[: step + 1]
    state = flow.fold_steps(shared)
    if unknown := set(changed) - CHANGEABLE_SETTINGS:
        raise UsageError(f"a branch cannot change {', '.join(sorted(unknown))}: ask a new question instead")
    base = validation.clamp_imported_settings(state.settings) if run.imported else state.settings
    try:
        made = Settings.model_validate(base.model_dump() | changed | {"thread_id": ""})
    except ValidationError as error:
        raise UsageError(f"the settings are not valid: {describe_faults(error)}") from error
    validation.check_new_run("?", made)
    made = made.replace(served_by=bench.worker.mark_model(made))
    redecides = bool(set(changed) - {"at_cap"})
    given = Note(step=step + 1, text=note.strip(), kind="steer", private=private) if note.strip() else None
    change, next = _plan_next_step(flow, state, shared[-1], given, redecides=redecides)
    change |= {"control": "forked", "forked_at": step + 1, "halt": None, "settings": made}
    change |= state.own.fork_change()
    at = utc_timestamp()
    first = Step(
        n=step + 1, name="fork", change=name_program(to_jsonable(change)), next=next, by="person", at=at
    )
    new = Run(
        id=new_id(),
        question=run.question,
        status=flow.rest_statuses.get(next, Status.RUNNING),
        settings=made,
        steps=step + 1,
        verdict="",
        confidence=None,
        error="",
        created_at=at,
        updated_at=at,
        imported=run.imported,
        forked_from=run.id,
        forked_at=step,
    )
    calls = [call for call in bench.store.calls.list_for_run(run.id) if call.step <= step]
    bench.store.calls.adopt(new.id, calls, keep_key=lambda call: False)
    summary = flow.fold_steps([*shared, first]).summary()
    bench.store.ledger.add_if_absent(new, [*shared, first], **summary)
    return new.id


def _plan_next_step(
    flow: Flow, state: RunState, last: Step, note: Note | None, *, redecides: bool
) -> tuple[Change, str]:
    """The next step of the new run after the `last` shared one, and the change that prepares it."""
    next = last.next
    if flow.rest_statuses.get(next) is Status.DONE and state.answers and "review" in flow.rest_statuses:
        next = "review"  # an accepted answer can be reviewed again
    change: Change = {}
    if note:
        kind = "send_back" if flow.rest_statuses.get(next) is Status.REVIEW else "steer"
        change["notes"] = [note.replace(kind=kind)]
    if (flow.is_ending(next) and (note or redecides)) or (note and state.pending):
        return flow.reenter(change)
    return change, next
