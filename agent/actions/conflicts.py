"""The door for what a person does about a conflict: rule on it, or ask for a step that would settle it. Each
is a step of the run.

    settling.settle(bench, run_id, "c0123", "take", value="1979", because="the register is the first source")
    settling.look(bench, run_id, "c0123", "Nordvik Dairy founding deed")

What is ruled is worked out by agent.actions.conflict_changes; the answer is rewritten by itself where there
is one (agent.actions.commit)."""

from __future__ import annotations

from agent.actions import conflict_changes
from agent.actions.commit import EDITABLE_FLOWS, commit_edit
from agent.actions.conflict_changes import Ruling
from agent.engine.state import to_jsonable
from agent.errors import UsageError
from agent.flows import FLOWS
from agent.types import Status
from agent.workbench import Workbench

SEARCHING_FLOWS = ("research",)
"""The flows that can search for what would settle a conflict."""


def resolve_conflict(
    bench: Workbench,
    run_id: str,
    name: str,
    ruling: Ruling,
    *,
    value: str = "",
    because: str = "",
    head: int | None = None,
) -> int:
    """Rule on a conflict: `take` a `value`, `both` hold, `neither` does, or make it `open` again. Returns the
    step's number.

    Raises NotFound, UsageError (no reason, an unknown value, a flow without a ledger of facts), Overtaken.
    """
    done = "reopen" if ruling == "open" else "settle"
    return commit_edit(
        bench,
        run_id,
        done,
        lambda state, step: conflict_changes.rule_on_conflict(
            state, step, name, ruling, value=value, because=because
        ),
        head,
    )


def request_search(bench: Workbench, run_id: str, name: str, words: str, head: int | None = None) -> int:
    """Have the run search for these words next, so that the conflict may be settled; a run that had ended
    goes on. Returns the step's number.

    Raises NotFound, UsageError, Overtaken."""
    view = bench.snapshot(run_id)
    flow = FLOWS[view.run.settings.flow]
    if flow.name not in SEARCHING_FLOWS:
        asked = "ask it a follow-up instead" if flow.name in EDITABLE_FLOWS else "ask a new question instead"
        raise UsageError(f"a {flow.name} run cannot search on for one conflict: {asked}")
    head = view.head if head is None else head
    _, upcoming, _ = bench.store.ledger.position(run_id)
    ended = view.run.status not in (
        Status.RUNNING,
        Status.PAUSED,
        Status.STOPPED,
        Status.FAILED,
    ) or upcoming in (flow.write_up_step, *flow.rest_statuses)
    change = conflict_changes.request_search(view.state, head + 1, name, words)
    anew = {**change, "pending": None, "why_stopped": "", "stop_reason": ""} if ended else change
    onward = {"status": Status.RUNNING, "control": ""} if view.run.status is not Status.RUNNING else {}
    following = flow.reentry_step if ended else ""
    step = bench.store.ledger.append_person_step(
        run_id, "look", to_jsonable(anew), next=following, head=head, among=(view.run.status,), **onward
    )
    bench.worker.schedule(run_id)
    return step
