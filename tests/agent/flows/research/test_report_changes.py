"""A written report that is changed: another length, fewer words, a comment on a section or a cell, struck facts."""

from __future__ import annotations

from typing import Any

import pytest

from agent.answering.recheck_answers import find_answer_problems
from agent.engine.run_state import RunState
from agent.flows import FLOWS
from agent.flows.research.report_steps import find_planned_question, is_outline_current
from agent.flows.research.state import ResearchState
from agent.types import Answer, Edit, Outline, OutlineSection, Status
from tests.web.reporting_model import PLAN, ReportScript
from tests.web.written_reports import HEADINGS, headings, reporting

pytestmark = pytest.mark.slow


def send_comment(target: str, note: str, section: Any) -> tuple[Answer, Answer, str]:
    """A report before and after a comment on its section or its table's first cell ("t1"), and the prompt of
    the only section that was written anew, by `section`."""
    script = ReportScript(revision={"understood": note})
    with reporting(script) as (bench, run_id):
        assert bench.drive(run_id) is Status.REVIEW
        before = bench.snapshot(run_id)
        old, first = before.state.answer, script.count("section")
        cell = next(n for n, s in enumerate(old.sentences, start=1) if s.context)
        script.more["section"] = section
        target = f"s{cell}" if target == "t1" else target
        bench.act(run_id, "comment", before.head, target=target, text=note)
        assert bench.drive(run_id) is Status.REVIEW, bench.snapshot(run_id).run.error
        view = bench.snapshot(run_id)
        assert not list(find_answer_problems(FLOWS["research"].new_state(), view.steps))
        prompts = [prompt for role, prompt in script.prompts if role == "section"]
        assert len(prompts) == first + 1 and script.count("outline") == 1
        return old, view.state.answer, prompts[-1]


def list_others(answer: Answer, left_out: str) -> list[str]:
    """The sentences of an answer, but those of its blocks of this kind below the summary."""
    blocks = {block.id for block in answer.blocks if block.kind == left_out and block.part}
    return [said.claim for said in answer.sentences if said.block not in blocks]


def test_a_comment_on_a_cell_rewrites_its_table_alone():
    def section(prompt: str) -> Any:
        assert "The section to write, as a table" in prompt and "- Lunde: Built: 1934 (f" in prompt
        reply = ReportScript()._section(prompt)
        for row in reply["blocks"][0]["rows"]:
            row["cells"][0]["text"] = f"in {row['cells'][0]['text']}"
        return reply

    old, new, _ = send_comment("t1", "too vague: in which year?", section)
    assert [block.kind for block in new.blocks] == [block.kind for block in old.blocks]
    cells = {said.context: said for said in new.sentences}
    assert cells["Lunde: Built"].text == "in 1934" and cells["Lunde: Built"].backed
    assert list_others(new, "table") == list_others(old, "table")


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
