"""A written report that is changed: another length, fewer words, a comment on a section or a cell, struck facts."""

from __future__ import annotations

import re
from typing import Any

import pytest

from agent.actions import fact_edits, report_form
from agent.answering.recheck_answers import find_answer_problems
from agent.engine.run_state import RunState
from agent.evidence.block_layout import lay_out_blocks
from agent.flows import FLOWS
from agent.flows.research.report_steps import find_planned_question, is_outline_current
from agent.flows.research.state import ResearchState
from agent.types import Answer, Edit, Outline, OutlineSection, Sentence, Status
from tests.web.reporting_model import PLAN, ReportScript, start_report
from tests.web.written_reports import HEADINGS, headings, reporting

pytestmark = pytest.mark.slow


def test_another_length_is_written_without_research():
    blocks = [
        {
            "kind": "paragraph",
            "sentences": [{"text": "The kiln of Myra is run by Siri Dahl.", "fact_ids": ["f6"]}],
        }
    ]
    script = ReportScript(report={"length": "full", "blocks": blocks})
    with reporting(script) as (bench, run_id):
        bench.drive(run_id)
        before = bench.snapshot(run_id)
        report_form.rewrite(bench, run_id, "brief", before.head)
        assert bench.drive(run_id) is Status.REVIEW
        view = bench.snapshot(run_id)
        assert view.state.answer.length == "brief", "a person's choice stands above what the model reads"
        assert len(view.state.actions) == len(before.state.actions) and len(view.state.answers) == 2
        report_form.rewrite(bench, run_id, "full")
        bench.drive(run_id)
        assert headings(bench.snapshot(run_id).state.answer) == HEADINGS
        assert script.count("outline") == 1, "the outline still holds"


def test_a_comment_on_a_section_rewrites_that_section_alone():
    def report(prompt: str) -> Any:
        assert "Sentences of the answer that stay" in prompt
        ids = re.findall(r"^(f\d+) \[.*\] The kiln of Myra is run by", prompt, re.MULTILINE)
        said = [{"text": "The kiln of Myra is run by Siri Dahl.", "fact_ids": ids}]
        return {"blocks": [{"kind": "paragraph", "sentences": said}]}

    script = ReportScript(report=report, revision={"understood": "only Myra"})
    with reporting(script) as (bench, run_id):
        assert bench.drive(run_id) is Status.REVIEW
        before = bench.snapshot(run_id)
        bench.comment(run_id, before.head, "h3", "Only Myra matters here.")
        assert bench.drive(run_id) is Status.REVIEW, bench.snapshot(run_id).run.error
        old, new = before.state.answer, bench.snapshot(run_id).state.answer
    assert headings(new) == headings(old) and new.title == old.title and new.length == "full"
    assert [b.kind for b in new.blocks] == [b.kind for b in old.blocks], (
        "with table, chart, limits and method"
    )
    assert [s.text for s in new.sentences if s.part == "2" and s.block != old.sentences[0].block] == [
        "The kiln of Myra is run by Siri Dahl."
    ]
    untouched = [
        s
        for s in old.sentences
        if s.block != next(b.id for b in old.blocks if b.part == "2" and b.kind == "paragraph")
    ]
    assert [s.text for s in new.sentences][: len(untouched)] == [s.text for s in untouched]
    assert script.count("section") == 2 and script.count("outline") == 1


def find_cell(answer: Answer, context: str) -> tuple[int, Sentence]:
    """The number of a cell among the sentences, from 1, and the cell."""
    return next((n, s) for n, s in enumerate(answer.sentences, start=1) if s.context == context)


def comment_on_cell(said: str, name: str) -> tuple[Answer, Answer, ReportScript]:
    """A report before and after a comment on a cell that the writer follows with this sentence."""

    def report(prompt: str) -> Any:
        [cited] = re.findall(rf"^(f\d+) \[.*\] .*kiln of {name} was built", prompt, re.MULTILINE)
        return {"blocks": [{"kind": "paragraph", "sentences": [{"text": said, "fact_ids": [cited]}]}]}

    script = ReportScript(report=report, revision={"understood": "say since when"})
    with reporting(script) as (bench, run_id):
        assert bench.drive(run_id) is Status.REVIEW
        before = bench.snapshot(run_id)
        n, _ = find_cell(before.state.answer, "Lunde: Built")
        bench.comment(run_id, before.head, f"s{n}", "too vague")
        assert bench.drive(run_id) is Status.REVIEW, bench.snapshot(run_id).run.error
        view = bench.snapshot(run_id)
        assert not list(find_answer_problems(FLOWS["research"].new_state(), view.steps))
        return before.state.answer, view.state.answer, script


def test_a_comment_on_a_cell_changes_that_cell_alone():
    old, new, script = comment_on_cell("in 1934", "Lunde")
    assert find_cell(new, "Lunde: Built")[1].text == "in 1934" and find_cell(new, "Lunde: Built")[1].backed
    assert [block.kind for block in new.blocks] == [block.kind for block in old.blocks]
    others = [[s.text for s in a.sentences if s.context != "Lunde: Built"] for a in (old, new)]
    assert others[0] == others[1]
    assert any("It is one cell of a table" in p for role, p in script.prompts if role == "report")


def test_what_is_too_long_for_a_cell_stands_as_a_note_under_the_table():
    long = "The kiln of Lunde was built in 1934. The kiln of Lunde burns 55 tonnes a year."
    old, new, _ = comment_on_cell(long, "Lunde")
    assert find_cell(new, "Lunde: Built")[1] == find_cell(old, "Lunde: Built")[1]
    shown = [
        layout.block.kind for layout in lay_out_blocks(new) if long in [s.text for s in layout.sentences]
    ]
    kinds = [block.kind for block in new.blocks]
    at = kinds.index("chart")
    assert shown == ["paragraph"] and kinds[at - 1 : at + 2] == ["table", "chart", "paragraph"]


def test_shorter_keeps_the_form_and_names_fewer_words_to_each_section():
    script = ReportScript(revision={"understood": "shorter", "length": "shorter"})
    with reporting(script) as (bench, run_id):
        assert bench.drive(run_id) is Status.REVIEW
        before = bench.snapshot(run_id)
        script.prompts.clear()
        bench.send_back(run_id, before.head, "shorter")
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


def test_without_a_model_shorter_goes_one_length_down(bench):
    run_id = start_report(bench, model="keyless")
    lengths = list[str]()
    for _ in range(3):
        assert bench.drive(run_id) is Status.REVIEW
        lengths.append(bench.snapshot(run_id).state.answer.length)
        bench.send_back(run_id, bench.snapshot(run_id).head, "shorter")
    assert lengths == ["full", "standard", "brief"]
    brief = bench.snapshot(run_id).state.answer
    assert bench.drive(run_id) is Status.REVIEW
    least = bench.snapshot(run_id).state.answer
    assert least.length == "brief" and len(least.sentences) < len(brief.sentences)


def test_a_section_whose_facts_were_all_struck_is_left_out_and_costs_no_call():
    script = ReportScript()
    with reporting(script) as (bench, run_id):
        assert bench.drive(run_id) is Status.REVIEW
        view = bench.snapshot(run_id)
        fact_edits.mark(bench, run_id, view.state.own.outline.sections[1].fact_ids, "struck")
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
