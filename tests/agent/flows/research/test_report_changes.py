"""A written report that is changed: another length, fewer words, a comment on a section or a cell, struck facts."""

from __future__ import annotations

import pytest

from agent.engine.run_state import RunState
from agent.flows.research.report_steps import find_planned_question, is_outline_current
from agent.flows.research.state import ResearchState
from agent.types import Edit, Outline, OutlineSection, Status
from tests.web.reporting_model import PLAN, ReportScript
from tests.web.written_reports import HEADINGS, headings, reporting

pytestmark = pytest.mark.slow


def test_shorter_keeps_the_form_and_names_fewer_words_to_each_section():
    script = ReportScript(revision={"understood": "shorter", "length": "shorter"})
    with reporting(script) as (bench, run_id):
        assert bench.drive(run_id) is Status.REVIEW
        before = bench.snapshot(run_id)
        script.prompts.clear()
        bench.act(run_id, "send_back", before.head, note="shorter")
        assert bench.drive(run_id) is Status.REVIEW
        view = bench.snapshot(run_id)
    assert view.state.answer.length == "full" and headings(view.state.answer) == HEADINGS
    words = view.state.readings[-1].max_words
    assert 0 < words < len(before.state.answer.text.split())
    told = [prompt for role, prompt in script.prompts if role == "section"]
    for prompt in told:
        assert f"Length of this section, as the notes were read: about {words // 2} words" in prompt
        assert "words" not in prompt.partition("Notes by the person")[2].partition("Sections of the")[0]
    assert told


def test_a_section_whose_facts_were_all_struck_is_left_out_and_costs_no_call():
    script = ReportScript(summary={"sentences": []})
    with reporting(script) as (bench, run_id):
        assert bench.drive(run_id) is Status.REVIEW
        view = bench.snapshot(run_id)
        bench.act(run_id, "mark", facts=view.state.own.outline.sections[1].fact_ids, decision="struck")
        script.prompts.clear()
        assert bench.drive(run_id) is Status.REVIEW
        answer = bench.snapshot(run_id).state.answer
    assert "Who runs them" not in headings(answer)
    assert [role for role, _ in script.prompts].count("section") == 1


def test_an_outline_with_a_section_on_a_dropped_part_holds_no_longer():
    sections = [OutlineSection(heading="Who runs them", part="2", fact_ids=["f"])]
    own = ResearchState(outline=Outline(title="Kilns", sections=sections, step=4))
    state = RunState(own=own, plan_parts=PLAN)
    assert is_outline_current(state)
    dropped = state.model_copy(update={"plan_parts": PLAN[:1]})
    assert not is_outline_current(dropped)
    asked = dropped.model_copy(
        update={"question": "When and who?", "edits": [Edit(step=5, text="changed the plan: dropped")]}
    )
    assert find_planned_question(asked) == PLAN[0].question
    assert find_planned_question(state.model_copy(update={"question": "When and who?"})) == "When and who?"
