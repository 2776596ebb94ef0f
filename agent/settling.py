"""The door for what a person does about a conflict: rule on it, or ask for a step that would settle it. Each is a step of the run.

    settling.settle(bench, run_id, "c0123", "take", value="1979", because="the register is the first source")
    settling.look(bench, run_id, "c0123", "Nordvik Dairy founding deed")

What is ruled is worked out by agent.flows.settling; the answer is rewritten by itself where there is one (agent.correcting).
"""

from __future__ import annotations

from agent.correcting import EDITABLE, correct
from agent.errors import UsageError
from agent.flows import FLOWS, settling
from agent.flows.settling import Ruling
from agent.state import jsonable
from agent.types import Status
from agent.workbench import Workbench

LOOKING = ("research",)
"""The flows that can search for what would settle a conflict."""


def settle(bench: Workbench, run_id: str, name: str, ruling: Ruling, *, value: str = "", because: str = "", head: int | None = None) -> int:
    """Rule on a conflict: `take` a `value`, `both` hold, `neither` does, or make it `open` again. Returns the step's number.

    Raises NotFound, UsageError (no reason, an unknown value, a flow without a ledger of facts), Overtaken.
    """
    done = "reopen" if ruling == "open" else "settle"
    return correct(bench, run_id, done, lambda state, step: settling.ruled(state, step, name, ruling, value=value, because=because), head)


def look(bench: Workbench, run_id: str, name: str, words: str, head: int | None = None) -> int:
    """Have the run search for these words next, so that the conflict may be settled; a run that had ended goes on. Returns the step's number.

    Raises NotFound, UsageError, Overtaken.
    """
    view = bench.view(run_id)
    flow = FLOWS[view.run.settings.flow]
    if flow.name not in LOOKING:
        asked = "ask it a follow-up instead" if flow.name in EDITABLE else "ask a new question instead"
        raise UsageError(f"a {flow.name} run cannot search on for one conflict: {asked}")
    head = view.head if head is None else head
    _, upcoming, _ = bench.store.ledger.position(run_id)
    ended = view.run.status not in (Status.RUNNING, Status.PAUSED, Status.STOPPED, Status.FAILED) or upcoming in (flow.on_budget, *flow.rests)
    change = settling.wished(view.state, head + 1, name, words)
    anew = {**change, "pending": None, "why_stopped": "", "stop_reason": ""} if ended else change
    onward = {"status": Status.RUNNING, "control": ""} if view.run.status is not Status.RUNNING else {}
    following = flow.again if ended else ""
    step = bench.store.ledger.speak(run_id, "look", jsonable(anew), next=following, head=head, among=(view.run.status,), **onward)
    bench.worker.kick(run_id)
    return step
