"""The outline as lines that a person edits, and who may ask for another length."""

from __future__ import annotations

import pytest

from agent.actions.report_form import read_outline_text, write_outline_text
from agent.errors import UsageError
from agent.types import Fact, Outline, OutlineSection, Settings

OUTLINE = Outline(
    title="Kilns",
    sections=[
        OutlineSection(heading="Age", part="1", fact_ids=["a"], form="table"),
        OutlineSection(heading="Owners (today)", part="1", fact_ids=["b"]),
    ],
)


FACTS = [
    Fact(id=name, statement=f"Fact {name}.", quote="q", part=part)
    for name, part in (("a", "1"), ("b", "2"), ("c", "2"), ("d", "2"))
]


def test_an_outline_with_its_facts_is_read_as_it_was_written():
    text = write_outline_text(OUTLINE, FACTS)
    assert text.splitlines()[1:4] == ["1. Age (table)", "    f1 Fact a.", "2. Owners (today) (prose)"]
    assert text.endswith("Not used:\n    f3 Fact c.\n    f4 Fact d.")
    assert read_outline_text(text, OUTLINE, FACTS) == OUTLINE


def test_facts_move_between_sections_and_a_new_line_is_a_new_section():
    text = "# Kilns\n2. Owners (today)\nf1 Fact a.\n- f2\nBuyers (list)\n  f4 Fact\nNot used:\nf3\n1. Age\n"
    changed = read_outline_text(text, OUTLINE, FACTS)
    told = [(s.heading, s.form, s.fact_ids, s.part) for s in changed.sections]
    assert told == [
        ("Owners (today)", "prose", ["a", "b"], "1"),
        ("Buyers", "list", ["d"], ""),
        ("Age", "table", [], "1"),
    ], "a section without facts is refused when the outline is used"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("1. Age\nf9", "no fact f9"),
        ("f1\n1. Age", "above the first section"),
        ("1. Age\n" + "word " * 15, "no heading"),
    ],
)
def test_a_line_that_cannot_be_meant_is_refused(text: str, why: str):
    with pytest.raises(UsageError, match=why):
        read_outline_text(text, OUTLINE, FACTS)


def test_only_a_research_answer_is_written_in_another_length(bench, ran):
    run_id = ran()
    bench.act(run_id, "rewrite", length="full")
    bench.drive(run_id)
    answer = bench.snapshot(run_id).state.answer
    assert answer.n == 2 and bench.snapshot(run_id).run.settings.report == "full"
    site = bench.start(
        "What is made here?",
        Settings(flow="site", world="demo", start_urls=["https://www.alvmora-mejeri.example/"]),
    )
    with pytest.raises(UsageError, match="is for research runs, and this is a site run"):
        bench.act(site, "rewrite", length="brief")
