"""A full report: an outline first, sections side by side from their own facts, checked and joined, with a
summary, and with what code knows of limits and method."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from agent.actions import fact_edits, report_form
from agent.actions.bundle_verify import verify_bundle
from agent.actions.export import export_run
from agent.engine import context
from agent.engine.run_state import RunState
from agent.engine.state import to_jsonable
from agent.errors import StoreError, UsageError
from agent.evidence.block_layout import lay_out_blocks
from agent.evidence.citation_check import check_support, diff_answers
from agent.flows import FLOWS
from agent.flows.research.report_steps import find_planned_question, is_outline_current
from agent.flows.research.state import ResearchState
from agent.flows.shared.recheck_answers import find_answer_problems
from agent.store.ledger import utc_timestamp
from agent.types import Answer, Edit, Outline, OutlineSection, Sentence, Settings, Status, Step
from agent.workbench import RunSnapshot, Workbench
from tests.web.model_server import ModelServer
from tests.web.reporting_model import KILNS, PLAN, ReportScript, start_report
from tests.web.researching_model import workbench

pytestmark = pytest.mark.slow
HEADINGS = ["Summary", "Age and output", "Who runs them", "Limits of the evidence", "Method"]


@contextmanager
def reporting(script: ReportScript, **settings: Any) -> Iterator[tuple[Workbench, str]]:
    with ModelServer(script.served) as server, workbench(server) as bench:
        yield bench, start_report(bench, **settings)


def written(script: ReportScript, **settings: Any) -> tuple[Answer, RunSnapshot]:
    with reporting(script, **settings) as (bench, run_id):
        assert bench.drive(run_id) is Status.REVIEW, bench.snapshot(run_id).run.error
        view = bench.snapshot(run_id)
        return view.state.answer, view


def headings(answer: Answer) -> list[str]:
    return [block.text for block in answer.blocks if block.kind == "heading"]


def test_a_report_has_summary_sections_table_chart_limits_and_method():
    script = ReportScript()
    answer, view = written(script)
    assert headings(answer) == HEADINGS and (answer.title, answer.length) == ("Three kilns", "full")
    assert answer.verdict == "answered" and answer.statements.unsupported == 0
    kinds = {layout.block.kind: layout for layout in lay_out_blocks(answer)}
    assert [[cell.text for cell in row] for row in kinds["table"].rows] == [
        [str(built), str(tonnes)] for built, tonnes, _ in KILNS.values()
    ]
    tonnes = [(place, tonnes) for place, (_, tonnes, _) in KILNS.items()]
    assert kinds["chart"].series == {"Tonnes a year": tonnes}
    lines = [line for block in answer.blocks for line in block.lines]
    assert "Dates of the cited sources: 2020-05-01 – 2022-05-01." in lines
    assert "Facts with a verbatim quote: 6; sites they are from: 3; sources cited: 3." in lines
    assert any(f"finished on {utc_timestamp()[:10]}." in line for line in lines), "by the clock of the pages"
    assert [step.name for step in view.steps][-3:] == ["report", "outline", "sections"]
    roles = [role for role, _ in script.prompts]
    assert sorted(roles) == ["check_claims", "outline", "section", "section", "summary"], (
        "what is quoted word for word needs no judge, so the summary was not judged"
    )


def test_a_fact_stands_in_one_section_only():
    script = ReportScript()
    _, view = written(script)
    first, second = view.state.own.outline.sections
    assert len(first.fact_ids) == 3 and not set(first.fact_ids) & set(second.fact_ids)
    prompts = [prompt for role, prompt in script.prompts if role == "section"]
    assert sum("was built in 1921" in prompt for prompt in prompts) == 1


def test_a_part_that_the_outline_forgets_gets_a_section():
    script = ReportScript()
    whole = script._outline

    def forget(prompt: str) -> Any:
        made = whole(prompt)
        return {**made, "sections": made["sections"][:1]}

    script._outline = forget  # type: ignore[method-assign]
    _, view = written(script)
    assert [section.part for section in view.state.own.outline.sections] == ["1", "2"]


def test_what_the_quotes_do_not_support_is_repaired_in_its_place_or_marked():
    wrong = "The kiln of Lunde is run by Jon Rise and his sons."
    right = "The kiln of Lunde is run by Jon Rise."

    def section(prompt: str) -> Any:
        told = ReportScript()._section(prompt)
        for said in told["blocks"][0].get("sentences", []):
            said["text"] = wrong if "Lunde" in said["text"] else said["text"]
        return told

    def judge(statement: str, _quotes: list[str]) -> bool:
        return "sons" not in statement

    script = ReportScript(judge, section=section, repairs={8: right})
    answer, _ = written(script)
    [paragraph] = [b for b in lay_out_blocks(answer) if b.block.kind == "paragraph" and b.block.part == "2"]
    assert [s.text for s in paragraph.sentences][1] == right and paragraph.sentences[1].backed
    kept, _ = written(ReportScript(judge, section=section))
    assert {s.text: s.check for s in kept.sentences}[wrong] == "not_supported"
    assert wrong not in str(kept.main_sentences[0]), "no summary rests on it"


def test_a_summary_that_its_quotes_do_not_support_is_left_out():
    made = {"sentences": [{"text": "All kilns are for sale.", "fact_ids": ["f1"]}]}
    answer, _ = written(ReportScript(lambda text, _: "for sale" not in text, summary=made))
    assert headings(answer) == HEADINGS[1:] and "for sale" not in answer.text


def test_what_code_writes_is_in_the_language_of_the_question():
    asked = "Wie unterscheiden sich die Öfen von Østby, Lunde und Myra, und wer betreibt sie?"
    answer, _ = written(ReportScript(), question=asked)
    assert headings(answer)[0::4] == ["Zusammenfassung", "Vorgehen"]
    lines = [line for block in answer.blocks for line in block.lines]
    assert "Fakten mit wörtlichem Zitat: 6; Websites, von denen sie stammen: 3; zitierte Quellen: 3." in lines


def test_a_report_asked_for_in_the_question_is_written_although_standard_was_chosen():
    answer, view = written(ReportScript(), report="standard")
    assert answer.length == "full" and headings(answer) == HEADINGS
    assert view.run.settings.report == "standard"


def test_without_a_model_the_passages_stand_under_headings_with_limits_and_method(bench):
    run_id = start_report(bench, model="keyless")
    assert bench.drive(run_id) is Status.REVIEW
    answer = bench.snapshot(run_id).state.answer
    assert headings(answer)[-2:] == HEADINGS[-2:] and answer.by == "keyless"
    shown = [layout.block.kind for layout in lay_out_blocks(answer)]
    assert "paragraph" in shown and answer.verdict == "passages_found"
    limits = next(block.lines for block in answer.blocks if block.id == "m1p")
    assert any(line.startswith("The main statement") for line in limits), "other sources are cited beside it"
    assert all(sentence.check == "quoted" for sentence in answer.sentences)
    report_form.rewrite(bench, run_id, "brief")
    assert bench.drive(run_id) is Status.REVIEW
    brief = bench.snapshot(run_id).state.answer
    assert brief.length == "brief" and brief.blocks == []
    counts = Counter((sentence.part, sentence.place) for sentence in brief.sentences)
    assert set(counts.values()) == {1} and {place for _, place in counts} <= {"lead", "passage"}
    assert brief.because == "after your edit: asked for a brief answer"


def test_without_a_model_the_rows_of_a_table_are_a_table_with_a_chart_and_cited_cells(bench):
    asked = "How many overnight stays did the Brattli hut have in each season?"
    run_id = bench.start(asked, Settings(world="demo", report="full", model="keyless"))
    assert bench.drive(run_id) is Status.REVIEW
    view = bench.snapshot(run_id)
    answer = view.state.answer
    [table] = [layout for layout in lay_out_blocks(answer) if layout.block.kind == "table"]
    assert table.block.heads == ["Season", "Brattli", "Storfall", "Vindskar"]
    assert [cell.text for cell in table.rows[-1]] == ["1,342", "2,398", "791"]
    assert all(cell.check == "quoted" and cell.fact_ids for row in table.rows for cell in row)
    assert not any("Season: 2025" in sentence.text for sentence in answer.sentences), "said once"
    [chart] = [layout for layout in lay_out_blocks(answer) if layout.block.kind == "chart"]
    assert len(chart.series) == 3 and chart.series["Brattli"][0] == ("2020", 612.0)
    assert not list(find_answer_problems(FLOWS["research"].new_state(), view.steps))
    moved = answer.sentences[0].replace(text="845")
    assert check_support([moved], view.state.facts)[0].check == "vetoed", "the value of another row"


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


def test_markdown_of_a_report_has_its_references_with_quotes():
    with reporting(ReportScript()) as (bench, run_id):
        bench.drive(run_id)
        text = bench.markdown(run_id)
    assert text.startswith("# Three kilns\n") and "## Where sources disagree" not in text
    assert "| **Østby** | 1921 [1] | 40 [1] |" in text
    assert "## References\n\n1. *The kiln of " in text and "    - “The kiln of " in text


def test_step_by_step_the_outline_waits_and_is_obeyed_as_a_person_changes_it():
    script = ReportScript()
    with reporting(script, mode="step") as (bench, run_id):
        assert bench.drive(run_id) is Status.WAITING
        view = bench.snapshot(run_id)
        assert view.next == "check_outline" and view.state.pending is None and script.count("section") == 0
        made = view.state.own.outline
        changed = [made.sections[1].replace(heading="## The owners"), made.sections[0].replace(form="list")]
        report_form.use_outline(bench, run_id, view.head, made.replace(sections=changed))
        assert bench.drive(run_id) is Status.REVIEW
        view = bench.snapshot(run_id)
        assert headings(view.state.answer)[1:3] == ["The owners", "Age and output"]
        assert not any(block.kind == "table" for block in view.state.answer.blocks)
        assert view.state.own.outline.by == "person"
        report_form.use_outline(bench, run_id, view.head, made.replace(sections=made.sections[1:]))
        bench.drive(run_id)
        again = bench.snapshot(run_id).state.answer
        assert (
            headings(again)[1:-2] == ["Who runs them"]
            and again.because == "after your edit: changed the outline"
        )
        assert script.count("outline") == 1


@pytest.mark.parametrize("change", [{"heading": " # "}, {"fact_ids": ["gone"]}])
def test_an_outline_that_cannot_be_written_is_refused(change: dict[str, Any]):
    with reporting(ReportScript(), mode="step") as (bench, run_id):
        bench.drive(run_id)
        view = bench.snapshot(run_id)
        made = view.state.own.outline
        with pytest.raises(UsageError, match="leave"):
            report_form.use_outline(
                bench, run_id, view.head, made.replace(sections=[made.sections[0].replace(**change)])
            )
        assert bench.snapshot(run_id).head == view.head


def test_answer_now_at_the_outline_writes_the_report():
    with reporting(ReportScript(), mode="step") as (bench, run_id):
        bench.drive(run_id)
        bench.finish(run_id)
        assert bench.drive(run_id) is Status.REVIEW
        assert headings(bench.snapshot(run_id).state.answer) == HEADINGS


def test_a_stop_while_sections_are_written_pays_no_finished_section_twice(monkeypatch):
    monkeypatch.setattr(context, "MAX_PARALLEL_JUDGEMENTS", 1)
    stopping = list[Callable[[], None]]()

    def section(prompt: str) -> Any:
        if "as a table" not in prompt and stopping:
            stopping.pop()()
        return ReportScript()._section(prompt)

    script = ReportScript(section=section)
    with reporting(script) as (bench, run_id):
        stopping.append(lambda: bench.stop(run_id))
        assert bench.drive(run_id) is Status.STOPPED
        assert [call.role for call in bench.calls(run_id)].count("section") >= 1
        bench.resume(run_id)
        assert bench.drive(run_id) is Status.REVIEW
        assert headings(bench.snapshot(run_id).state.answer) == HEADINGS
    tables = [prompt for role, prompt in script.prompts if role == "section" and "as a table" in prompt]
    assert len(tables) == 1 and script.count("outline") == 1


def test_what_was_written_before_the_process_died_is_not_paid_again(monkeypatch):
    script = ReportScript()
    with reporting(script) as (bench, run_id):
        commit = bench.store.ledger.commit

        def die(lease: Any, step: Any, *rest: Any) -> None:
            if step.name == "sections":
                monkeypatch.setattr(bench.store.ledger, "commit", commit)
                raise StoreError("the process died")
            commit(lease, step, *rest)

        monkeypatch.setattr(bench.store.ledger, "commit", die)
        with pytest.raises(StoreError):
            bench.drive(run_id)
        asked = len(script.prompts)
        assert bench.drive(run_id) is Status.REVIEW
        assert len(script.prompts) == asked and headings(bench.snapshot(run_id).state.answer) == HEADINGS


def test_a_report_is_verified_compared_and_exported_as_data():
    with reporting(ReportScript()) as (bench, run_id):
        bench.drive(run_id)
        bundle = export_run(bench, run_id, "bundle")
        assert verify_bundle(bundle).is_valid
        data = bench.as_json(run_id)
        assert data["title"] == "Three kilns" and {b["kind"] for b in data["blocks"]} >= {"table", "chart"}
        answer = bench.snapshot(run_id).state.answer
        moved = answer.replace(sentences=[s.replace(row=0) for s in answer.sentences])
        step = Step(n=9, name="sections", change=to_jsonable({"answers": [moved]}), next="review")
        steps = [*bench.snapshot(run_id).steps[:-1], step]
        problems = list(find_answer_problems(FLOWS["research"].new_state(), steps))
        assert any("for another row or column" in problem for problem in problems)
        report_form.rewrite(bench, run_id, "full")
        bench.drive(run_id)
        assert {c.kind for c in diff_answers(*bench.snapshot(run_id).state.answers)} == {"same"}


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
    assert told and all(f"At most {words // 2} words in this section" in prompt for prompt in told)


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
