"""A full report: an outline first, sections side by side from their own facts, checked and joined, with a
summary, and with what code knows of limits and method."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agent.actions.bundles import verify_bundle
from agent.actions.export import export_run
from agent.answering.recheck_answers import find_answer_problems
from agent.engine import context
from agent.engine.state import to_jsonable
from agent.errors import StoreError, UsageError
from agent.evidence.block_layout import lay_out_blocks
from agent.flows import FLOWS
from agent.store.ledger import utc_timestamp
from agent.types import Status, Step
from tests.records import fill
from tests.web.reporting_model import KILNS, ReportScript, start_report
from tests.web.written_reports import HEADINGS, headings, reporting, written

pytestmark = pytest.mark.slow


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


def test_a_part_that_the_outline_forgets_gets_a_section():
    script = ReportScript()
    whole = script.outline

    def forget(prompt: str) -> Any:
        made = whole(prompt)
        return {**made, "sections": made["sections"][:1]}

    script.outline = forget  # type: ignore[method-assign]
    _, view = written(script)
    assert [section.part for section in view.state.own.outline.sections] == ["1", "2"]


def test_what_code_writes_is_in_the_language_of_the_question():
    asked = "Wie unterscheiden sich die Öfen von Østby, Lunde und Myra, und wer betreibt sie?"
    answer, _ = written(ReportScript(), question=asked)
    assert headings(answer)[0::4] == ["Zusammenfassung", "Vorgehen"]
    lines = [line for block in answer.blocks for line in block.lines]
    assert "Fakten mit wörtlichem Zitat: 6; Websites, von denen sie stammen: 3; zitierte Quellen: 3." in lines


def test_without_a_model_a_full_report_says_that_it_needs_one_and_shows_passages(bench):
    run_id = start_report(bench, model="keyless")
    assert bench.drive(run_id) is Status.REVIEW
    answer = bench.snapshot(run_id).state.answer
    assert (answer.by, answer.verdict, answer.length) == ("keyless", "passages_found", "standard")
    assert "A full report needs a model" in answer.remark
    assert all(sentence.check == "quoted" for sentence in answer.sentences)


def test_step_by_step_the_outline_waits_and_is_obeyed_as_a_person_changes_it():
    script = ReportScript()
    with reporting(script, mode="step") as (bench, run_id):
        assert bench.drive(run_id) is Status.WAITING
        view = bench.snapshot(run_id)
        assert view.next == "check_outline" and view.state.pending is None and script.count("section") == 0
        made = view.state.own.outline
        changed = [made.sections[1].replace(heading="## The owners"), made.sections[0].replace(form="list")]
        bench.act(run_id, "use_outline", view.head, outline=made.replace(sections=changed))
        assert bench.drive(run_id) is Status.REVIEW
        view = bench.snapshot(run_id)
        assert headings(view.state.answer)[1:3] == ["The owners", "Age and output"]
        assert not any(block.kind == "table" for block in view.state.answer.blocks)
        assert view.state.own.outline.by == "person"
        bench.act(run_id, "use_outline", view.head, outline=made.replace(sections=made.sections[1:]))
        bench.drive(run_id)
        again = bench.snapshot(run_id).state.answer
        assert headings(again)[1:-2] == ["Who runs them"]
        assert again.because == "after your edit: changed the outline"
        assert script.count("outline") == 1


@pytest.mark.parametrize("change", [{"heading": " # "}, {"fact_ids": ["gone"]}])
def test_an_outline_that_cannot_be_written_is_refused(change: dict[str, Any]):
    with reporting(ReportScript(), mode="step") as (bench, run_id):
        bench.drive(run_id)
        view = bench.snapshot(run_id)
        made = view.state.own.outline
        with pytest.raises(UsageError, match="leave"):
            bench.act(
                run_id,
                "use_outline",
                view.head,
                outline=made.replace(sections=[made.sections[0].replace(**change)]),
            )
        assert bench.snapshot(run_id).head == view.head


def test_a_stop_while_sections_are_written_pays_no_finished_section_twice(monkeypatch):
    monkeypatch.setattr(context, "MAX_PARALLEL_JUDGEMENTS", 1)
    stopping = list[Callable[[], None]]()

    def section(prompt: str) -> Any:
        if "as a table" not in prompt and stopping:
            stopping.pop()()
        return ReportScript().section(prompt)

    script = ReportScript(section=section)
    with reporting(script) as (bench, run_id):
        stopping.append(lambda: bench.act(run_id, "stop"))
        assert bench.drive(run_id) is Status.STOPPED
        assert [call.role for call in bench.calls(run_id)].count("section") >= 1
        bench.act(run_id, "resume")
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


def test_an_empty_cell_is_filled_from_facts_that_its_writer_was_not_shown():
    script = ReportScript()
    whole, table = script.outline, script.section

    def forget(prompt: str) -> Any:
        made = whole(prompt)
        made["sections"][0]["fact_ids"].pop()
        return made

    def leave_empty(prompt: str) -> Any:
        told = table(prompt)
        for block in told["blocks"] if "as a table" in prompt and "1950" not in prompt else ():
            block["rows"].append({"label": "Myra", "cells": ["", ""]})
        return told

    script.outline = forget  # type: ignore[method-assign]
    script.more["section"] = leave_empty
    answer, _ = written(script)
    [shown] = [layout for layout in lay_out_blocks(answer) if layout.block.kind == "table"]
    assert shown.block.row_labels == list(KILNS) and all(cell for row in shown.rows for cell in row)
    [again] = [p for role, p in script.prompts if role == "section" and "Myra: Built: (empty)" in p]
    assert "Write all of it again" in again


def test_a_cell_that_was_moved_to_another_row_is_told_by_who_verifies():
    with reporting(ReportScript()) as (bench, run_id):
        bench.drive(run_id)
        assert verify_bundle(export_run(bench, run_id, "bundle")).is_valid
        view = bench.snapshot(run_id)
        moved = view.state.answer.replace(
            sentences=[said.replace(row=0) for said in view.state.answer.sentences]
        )
        forged = fill(Step, n=9, name="sections", change=to_jsonable({"answers": [moved]}), next="review")
        problems = list(find_answer_problems(FLOWS["research"].fold_steps([]), [*view.steps[:-1], forged]))
    assert any("for another row or column" in problem for problem in problems)
