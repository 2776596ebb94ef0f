"""What a person may do next with a run of the demo so that recorded replies follow it further."""

from __future__ import annotations

from collections.abc import Iterator
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
    if run.settings.model != RECORDED or run.status is not Status.REVIEW or not answered:
        return None
    for example in list_examples():
        if (example["flow"], example["question"]) == (run.settings.flow, run.question):
            for told in example.get("next", [])[answered - 1 : answered]:
                return fill_act(view.state, told)
    return None


def fill_act(state: RunState, told: dict[str, Any]) -> RecordedAct | None:
    """An act of an example with the ids that its conflict, by one of its values, and its fact, by words of
    its statement, have in the run."""
    given = dict(told["given"])
    for name, ids in (("conflict", _find_conflicts), ("fact", _find_facts)):
        if name in given:
            given[name] = next(ids(state, given[name]), "")
            if not given[name]:
                return None
    return RecordedAct(told["label"], told["act"], given)


def _find_conflicts(state: RunState, value: str) -> Iterator[str]:
    return (one.id for one in state.conflicts.values() if value in [side.text for side in one.values])


def _find_facts(state: RunState, words: str) -> Iterator[str]:
    return (fact.id for fact in state.facts.values() if words in fact.statement)
