"""The layout of an answer without a model: part by part, gaps in their place, the rest folded."""

from __future__ import annotations

import pytest

from agent.evidence.answer_layout import NOT_FOUND, format_question, label_passage, lay_out
from agent.types import Answer, PlanPart, Sentence, Source


def said(text: str, place: str = "", part: str = "1", **more) -> Sentence:
    return Sentence(text=text, place=place, part=part, **more)


def answer(*sentences: Sentence, parts: list[tuple[str, str]] = (), **more) -> Answer:
    known = [PlanPart(id=str(n), question=asked, status=status) for n, (asked, status) in enumerate(parts, 1)]
    return Answer(n=1, verdict="passages_found", sentences=list(sentences), parts=known, **more)


def test_an_answer_without_places_has_no_layout():
    assert lay_out(answer(said("One."), said("Two."))) is None


def test_one_part_has_its_lead_its_passages_and_what_is_folded():
    found = lay_out(answer(said("Led.", "lead"), said("More.", "passage"), said("Rest.", "other")))
    (part,) = found.parts
    assert (part.question, part.gap) == ("", "")
    assert ([s.text for s in part.leads], [s.text for s in part.passages]) == (["Led."], ["More."])
    assert [s.text for s in found.others] == ["Rest."]


def test_a_part_that_was_not_found_says_so_in_its_place():
    asked = [("who painted it", "not_found"), ("When was it built?", "found")]
    found = lay_out(answer(said("In 1921.", "lead", "2"), parts=asked))
    assert [(part.question, part.gap) for part in found.parts] == [
        ("Who painted it?", NOT_FOUND),
        ("When was it built?", ""),
    ]


def test_sentences_about_conflicts_stand_before_or_after_the_parts():
    before, after = said("The sources differ."), said("They differ here, too.")
    found = lay_out(answer(before, said("Led.", "lead"), said("More.", "passage"), after))
    assert ([s.text for s in found.opening], [s.text for s in found.closing]) == ([before.text], [after.text])


def test_a_passage_of_no_known_part_is_still_shown():
    found = lay_out(answer(said("Led.", "lead"), said("Loose.", "passage", ""), parts=[("A", "found")]))
    assert [s.text for part in found.parts for s in (*part.leads, *part.passages)] == ["Led.", "Loose."]


def test_a_passage_is_labelled_by_its_headings_else_by_its_page():
    given = answer(sources=[Source(n=1, url="https://a.example/", title="Manual", fact_ids=["f1"])])
    assert label_passage(given, said("More.", "passage", heading="Options › Output")) == "Options › Output"
    assert label_passage(given, said("More.", "passage", fact_ids=["f1"])) == "Manual"
    assert label_passage(given, said("More.", "passage", fact_ids=["f9"])) == ""


@pytest.mark.parametrize(
    ("asked", "heading"),
    [
        ("how many employees does it have", "How many employees does it have?"),
        ("write a full report on the kilns of Lunde with tables", "The kilns of Lunde"),
        ("compare the kilns of Lunde and Myra", "Compare the kilns of Lunde and Myra"),
        ("Who owns it?", "Who owns it?"),
    ],
)
def test_a_heading_has_a_capital_and_no_words_on_the_form_of_the_answer(asked: str, heading: str) -> None:
    assert format_question(asked) == heading
