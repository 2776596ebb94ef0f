"""Every run has a plan, and every fact bears on one of its parts or on none."""

from __future__ import annotations

from agent.engine.run_state import RunState
from agent.engine.state import merge
from agent.flows.shared.plan import assign_parts
from agent.types import Fact, PlanPart

BRIDGE = "When was the Halden bridge built, and who designed it?"


def make_fact(quote: str, part: str = "") -> Fact:
    return Fact(id="f1", statement=quote, quote=quote, part=part)


def test_a_run_without_a_recorded_plan_has_the_clauses_of_its_question() -> None:
    assert [(part.id, part.question) for part in RunState(question=BRIDGE).plan] == [
        ("1", "When was the Halden bridge built"),
        ("2", "who designed it?"),
    ]
    assert [part.question for part in RunState(question="and the other?", asked="Is B open?").plan] == [
        "Is B open?"
    ]


def test_a_recorded_plan_stands() -> None:
    state = merge(
        RunState(question=BRIDGE), {"plan_parts": [{"id": "1", "question": "x", "status": "answered"}]}
    )
    assert state.plan == [PlanPart(id="1", question="x", status="answered")]


def test_a_fact_keeps_a_part_of_the_plan_and_loses_any_other() -> None:
    plan = RunState(question=BRIDGE).plan
    kept, moved, lost = assign_parts(
        plan,
        [
            make_fact("It was painted red.", part="2"),
            make_fact("The Halden bridge was built in 1921.", part="the date"),
            make_fact("It was painted red."),
        ],
    )
    assert (kept.part, moved.part, lost.part) == ("2", "1", "")


def test_a_value_of_the_type_asked_for_decides_where_no_word_does() -> None:
    plan = RunState(question=BRIDGE).plan
    assert assign_parts(plan, [make_fact("The engineer was Anna Berg.")])[0].part == "2"


def test_one_part_takes_every_fact() -> None:
    plan = RunState(question="When was it built?").plan
    assert assign_parts(plan, [make_fact("It was painted red.", part="history")])[0].part == "1"
