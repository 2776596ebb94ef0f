"""The shape of an answer without a model: a lead and at most three passages for each part, the rest folded."""

from __future__ import annotations

import pytest

from agent.answering.answer_shape import (
    arrange_places,
    block_by_parts,
    place_conflicts,
)
from agent.evidence.block_layout import lay_out_blocks
from agent.evidence.report_words import words_for
from agent.types import Answer, PlanPart, Sentence


def said(text: str, place: str = "", part: str = "1") -> Sentence:
    return Sentence(text=text, place=place, part=part)


def places(*sentences: Sentence) -> list[str]:
    return [sentence.place for sentence in arrange_places(sentences)]


def test_sentences_without_any_place_stay_without():
    assert places(said("One."), said("Two.")) == ["", ""]


def test_a_part_that_lost_its_lead_gets_its_first_short_passage():
    long = "word " * 41
    found = places(said(long, "passage"), said("Short.", "passage"), said("Led.", "lead", "2"))
    assert found == ["passage", "lead", "lead"]


def test_a_fourth_passage_of_a_part_is_folded():
    shown = [said("Led.", "lead"), *(said(f"Passage {n}.", "passage") for n in range(4))]
    assert places(*shown) == ["lead", "passage", "passage", "passage", "other"]


def test_what_is_shown_is_not_folded_again():
    told = [
        said("One.", "lead"),
        said("One.", "other", "2"),
        said("Two.", "other"),
        said("Two.", "other", "2"),
    ]
    assert [(s.text, s.place) for s in arrange_places(told)] == [("One.", "lead"), ("Two.", "other")]
    twice = [said("Same.", "lead"), said("Same.", "lead", "2")]
    assert arrange_places(twice) == twice


def test_in_a_full_report_what_else_was_found_has_a_section_of_its_own():
    plan = [PlanPart(id="1", question="how many does it have"), PlanPart(id="2", question="Who owns it?")]
    told = [said("Led.", "lead"), said("More.", "other"), said("Owned.", "lead", "2")]
    given = block_by_parts(
        Answer(n=1, verdict="passages_found", sentences=told), plan, words_for("Wer ist es?")
    )
    headings = [block.text for block in given.blocks if block.kind == "heading"]
    assert headings == ["How many does it have?", "Who owns it?", "Außerdem gefunden"]
    shown = [[sentence.text for sentence in layout.sentences] for layout in lay_out_blocks(given)]
    assert [texts for texts in shown if texts] == [["Led."], ["Owned."], ["More."]]


def test_a_pinned_fact_without_a_place_is_a_passage():
    assert places(said("Pinned."), said("Led.", "lead")) == ["passage", "lead"]


def test_a_conflict_leads_a_part_that_has_no_lead_of_its_own():
    named = [said("They differ on it.", part="1"), said("Again.", part="1"), said("On that.", part="2")]
    assert [s.place for s in place_conflicts(named, [said("Led.", "lead", "2")])] == ["lead", "", ""]
    assert [s.place for s in place_conflicts(named, [])] == ["lead", "", "lead"]
    assert [s.place for s in place_conflicts(named, [said("A digest.")])] == ["", "", ""]


@pytest.mark.parametrize("first", [True, False])
def test_the_text_of_an_answer_is_leads_then_passages_without_what_is_folded(first):
    named = said("The sources differ.", "", "")
    stated = [
        said("Lead one.", "lead"),
        said("Passage one.", "passage"),
        said("Folded.", "other"),
        said("Lead two.", "lead", "2"),
        said("Passage two.", "passage", "2"),
    ]
    answer = Answer(n=1, verdict="passages_found", sentences=[named, *stated] if first else [*stated, named])
    text = "Lead one. Lead two. Passage one. Passage two."
    assert answer.text == (f"The sources differ. {text}" if first else f"{text} The sources differ.")


def test_the_text_of_an_answer_of_a_model_keeps_its_order():
    answer = Answer(n=1, verdict="answered", sentences=[said("One."), said("Two.")])
    assert answer.text == "One. Two."
