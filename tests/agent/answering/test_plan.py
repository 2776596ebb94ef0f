"""Every run has a plan, and every fact bears on one of its parts or on none."""

from __future__ import annotations

from agent.answering.plan import assign_parts, bears_on, describe_remaining, parse_parts
from agent.engine.run_state import RunState
from agent.engine.state import merge
from agent.types import Action, Fact, PlanPart, Settings

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


STAFFED = "When was Skarvik Brewery founded and how many people does it employ?"


def test_words_that_parts_have_in_common_tell_none_of_them() -> None:
    plan = RunState(question=STAFFED).plan
    founded = make_fact("Skarvik Brewery was founded in 1902.")
    employs = make_fact("Skarvik Brewery employs 31 people, counted on 1 September 2025.")
    named = make_fact("Skarvik Brewery")
    assert [fact.part for fact in assign_parts(plan, [founded, employs, named])] == ["1", "2", ""]
    assert bears_on(plan, plan[0], founded) and not bears_on(plan, plan[0], employs)
    assert bears_on(plan, plan[1], employs) and not bears_on(plan, plan[1], founded)


def test_a_part_without_a_name_has_those_of_the_part_before_it() -> None:
    first, second = parse_parts(RunState(question=STAFFED).plan)
    assert second.name_words == first.name_words == {"skarvik", "brewery"}
    assert (first.answer_type, second.answer_type) == ("date", "number")


def test_what_is_still_to_come_is_told_of_a_full_report_on_several_parts() -> None:
    parts = [PlanPart(id=str(n), question=f"Which is the mill of place {n}?") for n in range(1, 7)]
    done = [Action(step=n, action="crawl_url", query_or_url=f"https://a.example/{n}") for n in range(34)]
    state = RunState(question="Which mills?", plan_parts=parts, actions=done)
    state.settings = Settings(report="full", max_steps=80)
    told = describe_remaining(state)
    assert "at most 46 searches and pages" in told and "about 12 calls and 24,000 tokens" in told
    state.settings = Settings(report="full", max_steps=35)
    assert "at most 1 search or page, then" in describe_remaining(state)
    state.settings = Settings(report="standard")
    assert describe_remaining(state) == ""
