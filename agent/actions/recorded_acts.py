"""What a person may do next with a run of the demo so that recorded replies follow it further."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agent.engine.run_state import RunState
from agent.engine.snapshots import RunSnapshot
from agent.llm.recorded import RECORDED, list_examples
from agent.types import Status


@dataclass(frozen=True)
class RecordedAct:
    """An act of agent.actions.acts with its parameters; `label` tells a person what it does."""

    label: str
    act: str
    given: dict[str, Any]


def find_recorded_act(view: RunSnapshot) -> RecordedAct | None:
    """The act that was recorded after the run's newest answer; None where none was."""
    run, answered = view.run, len(view.state.answers)
    if run.settings.model != RECORDED or run.status not in (Status.REVIEW, Status.WAITING) or not answered:
        return None
    for example in list_examples():
        if (example["flow"], example["question"]) == (run.settings.flow, run.question):
            for told in example.get("next", [])[answered - 1 : answered]:
                return fill_act(view.state, told)
    return None


def fill_act(state: RunState, told: dict[str, Any]) -> RecordedAct | None:
    """An act of an example with what its words mean in the run: of a `conflict` the one that has this value,
    of `facts` those whose statements hold these words."""
    given = dict(told["given"])
    if words := given.get("conflict"):
        sides = [(one.id, side.text) for one in state.conflicts.values() for side in one.values]
        found = next((side for side in sides if words in side[1]), None)
        if found is None:
            return None
        given["conflict"], given["value"] = found
    if wanted := given.get("facts"):
        given["facts"] = [fact.id for fact in state.facts.values() for w in wanted if w in fact.statement]
    return RecordedAct(told["label"], told["act"], given)
