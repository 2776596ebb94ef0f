"""The outline as lines that a person edits, and who may ask for another length."""

from __future__ import annotations

import pytest

from agent.actions import report_form
from agent.actions.report_form import read_outline_text, write_outline_text
from agent.errors import ConcurrentChange, UsageError
from agent.types import Outline, OutlineSection, Settings

OUTLINE = Outline(
    title="Kilns",
    sections=[
        OutlineSection(heading="Age", fact_ids=["a"], form="table"),
        OutlineSection(heading="Owners (today)", fact_ids=["b"]),
    ],
)


def test_an_outline_is_read_as_it_was_written():
    assert read_outline_text(write_outline_text(OUTLINE), OUTLINE) == OUTLINE


def test_lines_are_reordered_reworded_and_left_out():
    changed = read_outline_text("# Old kilns\n\n2) Who owns them (List)\n", OUTLINE)
    assert changed.title == "Old kilns"
    assert [(s.heading, s.form, s.fact_ids) for s in changed.sections] == [("Who owns them", "list", ["b"])]


@pytest.mark.parametrize("text", ["Age (table)", "3. New", "1. Age\n1. Again"])
def test_a_line_that_names_no_section_is_refused(text: str):
    with pytest.raises(UsageError, match="number"):
        read_outline_text(text, OUTLINE)


def test_only_a_research_answer_is_written_in_another_length(bench, ran):
    run_id = ran()
    report_form.rewrite(bench, run_id, "full")
    bench.drive(run_id)
    answer = bench.snapshot(run_id).state.answer
    assert (answer.n, answer.length) == (2, "full") and bench.snapshot(run_id).run.settings.report == "full"
    site = bench.start(
        "What is made here?",
        Settings(flow="site", world="demo", start_urls=["https://www.alvmora-mejeri.example/"]),
    )
    with pytest.raises(ConcurrentChange):
        report_form.rewrite(bench, site, "brief")
    bench.drive(site)
    with pytest.raises(UsageError, match="one length"):
        report_form.rewrite(bench, site, "brief")
