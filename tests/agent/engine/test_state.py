"""The fold: what a change does to each kind of field, and that replaying gives what was merged."""

from __future__ import annotations

from typing import Annotated

import pytest
from pydantic import Field

from agent.engine.run_state import FlowState, RunState
from agent.engine.state import State, append, find_undone, merge, to_jsonable, upsert, upsert_by_step
from agent.types import Action, Lead, Note, Step
from tests.records import fill


class Toy(State):
    question: str = ""
    notes: Annotated[list[Note], append] = Field(default_factory=list)
    actions: Annotated[list[Action], upsert_by_step] = Field(default_factory=list)
    leads: Annotated[dict[str, Lead], upsert] = Field(default_factory=dict)


def lead(value: str, score: float = 0.0) -> Lead:
    return fill(Lead, id=value, kind="query", value=value, score=score)


def test_each_field_has_its_way():
    state = merge(
        Toy(), to_jsonable({"question": "a", "notes": [fill(Note, step=1, text="x")], "leads": [lead("l")]})
    )
    merge(
        state,
        to_jsonable(
            {"question": "b", "notes": [fill(Note, step=2, text="y")], "leads": [lead("l", 0.5), lead("m")]}
        ),
    )
    assert state.question == "b"
    assert [note.text for note in state.notes] == ["x", "y"]
    assert {key: value.score for key, value in state.leads.items()} == {"l": 0.5, "m": 0.0}


def test_an_action_is_amended_by_its_step():
    act = fill(Action, step=3, action="crawl_url", query_or_url="http://a.example")
    state = merge(
        merge(Toy(), to_jsonable({"actions": [act]})),
        to_jsonable({"actions": [act.model_copy(update={"new_facts": 2})]}),
    )
    assert [(a.step, a.new_facts) for a in state.actions] == [(3, 2)]


class Own(FlowState):
    leads: Annotated[dict[str, Lead], upsert] = Field(default_factory=dict)


def test_a_flat_change_reaches_the_shared_part_and_the_flows_own_record():
    state = merge(RunState(own=Own()), to_jsonable({"question": "a", "leads": [lead("l"), lead("m")]}))
    assert state.question == "a" and set(state.own.leads) == {"l", "m"}
    merge(state, {"-leads": ["l"]})
    assert set(state.own.leads) == {"m"}


@pytest.mark.parametrize("name", ["own", "leads", "-leads", "nonsense"])
def test_a_field_of_another_flow_is_an_error(name):
    with pytest.raises(KeyError):
        merge(RunState(), {name: []})


def test_only_an_earlier_step_can_be_undone_and_an_undo_too() -> None:
    def edit(n: int, undoes: int) -> Step:
        return fill(Step, n=n, name="undo", change={"edits": [{"step": n, "text": "", "undoes": undoes}]})

    assert find_undone([edit(1, 3), edit(2, 2), edit(3, 1)]) == {1}
    assert find_undone([edit(4, 2), edit(5, 4)]) == {4}
