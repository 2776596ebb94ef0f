"""Every run has a plan, and every fact bears on one of its parts or on none."""

from __future__ import annotations

from agent.answering.view import describe_remaining
from agent.engine.run_state import RunState
from agent.types import Action, Fact, PlanPart, Settings
from tests.records import fill

PLAN = [
    PlanPart(id="1", question="When was the Halden bridge built?"),
    PlanPart(id="2", question="Who designed it?"),
]


def make_fact(quote: str, part: str = "") -> Fact:
    return Fact(id="f1", statement=quote, quote=quote, part=part)


def test_a_run_without_a_recorded_plan_has_its_question_as_one_part() -> None:
    question = "When was the bridge built, and who designed it?"
    assert [(part.id, part.question) for part in RunState(question=question).plan] == [("1", question)]
    asked = RunState(question="and the other?", asked="Is B open?").plan
    assert [part.question for part in asked] == ["Is B open?"]


def test_what_is_still_to_come_is_told_of_a_full_report_on_several_parts() -> None:
    parts = [PlanPart(id=str(n), question=f"Which is the mill of place {n}?") for n in range(1, 7)]
    done = [
        fill(Action, step=n, action="crawl_url", query_or_url=f"https://a.example/{n}") for n in range(34)
    ]
    state = RunState(question="Which mills?", plan_parts=parts, actions=done)
    state.settings = Settings(report="full", max_steps=80)
    told = describe_remaining(state)
    assert "at most 46 searches and pages" in told and "about 12 calls and 24,000 tokens" in told
    state.settings = Settings(report="full", max_steps=35)
    assert "at most 1 search or page, then" in describe_remaining(state)
    state.settings = Settings(report="standard")
    assert describe_remaining(state) == ""
