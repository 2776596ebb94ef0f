"""What is told of a plan while a run works on it."""

from __future__ import annotations

from agent.answering.plan_view import describe_remaining
from agent.engine.run_state import RunState
from agent.types import Action, PlanPart, Settings


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
