"""A written report that is changed: another length, fewer words, a comment on a section or a cell, struck facts."""

from __future__ import annotations

import pytest

from agent.types import Status
from tests.web.reporting_model import ReportScript
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
