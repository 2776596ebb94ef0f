"""The shape of an answer: passages part by part, running text, and where conflicts are named."""

from __future__ import annotations

from typing import Any

import pytest

from agent.answering.verdict import choose_roles, lay_out_answer
from agent.evidence.block_layout import lay_out_blocks, prune_blocks
from agent.evidence.report_words import words_for
from agent.types import Answer, PlanPart, Sentence


def drafted(text: str, role: str = "", part: str = "1") -> Sentence:
    return Sentence(text=text, block=role, part=part)


def roles(*sentences: Sentence) -> list[str]:
    return [sentence.block for sentence in choose_roles([], sentences)]


def lay_out(stated: list[Sentence], *named: Sentence, **more: Any) -> Answer:
    plan = [PlanPart(id="1", question="how many does it have"), PlanPart(id="2", question="Who owns it?")]
    fixed: dict[str, Any] = {"by": "keyless", "length": "standard", "words": words_for(""), **more}
    blocks, told = prune_blocks(*lay_out_answer(plan, [], stated, named, **fixed))
    return Answer(n=1, verdict="passages_found", blocks=blocks, sentences=told)


def describe(answer: Answer) -> list[tuple[str, list[str]]]:
    laid = lay_out_blocks(answer)
    return [
        (one.block.role, [s.text for s in one.sentences] or [one.block.text, *one.block.lines])
        for one in laid
    ]


def test_sentences_without_any_role_stay_without():
    assert roles(drafted("One."), drafted("Two.")) == ["", ""]


def test_a_part_that_lost_its_lead_gets_its_first_short_passage():
    long = "word " * 41
    found = roles(drafted(long, "passage"), drafted("Short.", "passage"), drafted("Led.", "lead", "2"))
    assert found == ["passage", "lead", "lead"]


def test_a_fourth_passage_of_a_part_is_folded():
    shown = [drafted("Led.", "lead"), *(drafted(f"Passage {n}.", "passage") for n in range(4))]
    assert roles(*shown) == ["lead", "passage", "passage", "passage", "other"]


def test_what_is_shown_is_not_folded_again():
    told = [
        drafted("One.", "lead"),
        drafted("One.", "other", "2"),
        drafted("Two.", "other"),
        drafted("Two.", "other", "2"),
    ]
    assert [(s.text, s.block) for s in choose_roles([], told)] == [("One.", "lead"), ("Two.", "other")]
    twice = [drafted("Same.", "lead"), drafted("Same.", "lead", "2")]
    assert choose_roles([], twice) == twice


def test_a_pinned_fact_without_a_role_is_a_passage():
    assert roles(drafted("Pinned."), drafted("Led.", "lead")) == ["passage", "lead"]


def test_in_a_full_report_what_else_was_found_has_a_section_of_its_own():
    told = [drafted("Led.", "lead"), drafted("More.", "other"), drafted("Owned.", "lead", "2")]
    given = lay_out(told, length="full", words=words_for("Wer ist es?"))
    headings = [block.text for block in given.blocks if block.kind == "heading"]
    assert headings == ["How many does it have?", "Who owns it?", "Außerdem gefunden"]
    assert [s.text for s in given.sentences] == ["Led.", "Owned.", "More."] and given.text.endswith("More.")


def test_passages_stand_part_by_part_and_a_gap_in_its_place():
    told = [drafted("Owned.", "lead", "2"), drafted("Rest.", "other", "2"), drafted("More.", "passage", "2")]
    given = lay_out(told)
    assert describe(given) == [
        ("lead", ["How many does it have?"]),
        ("gap", ["", "No passage was found by these words."]),
        ("lead", ["Who owns it?"]),
        ("lead", ["Owned."]),
        ("passage", ["More."]),
        ("other", ["Rest."]),
    ]


@pytest.mark.parametrize("first", [True, False])
def test_the_text_of_an_answer_is_leads_then_passages_without_what_is_folded(first: bool):
    stated = [
        drafted("Lead one.", "lead"),
        drafted("Passage one.", "passage"),
        drafted("Folded.", "other"),
        drafted("Lead two.", "lead", "2"),
        drafted("Passage two.", "passage", "2"),
    ]
    answer = lay_out(stated, drafted("The sources differ."), conflicts_first=first)
    text = "Lead one. Lead two. Passage one. Passage two."
    assert answer.text == (f"The sources differ. {text}" if first else f"{text} The sources differ.")


def test_a_conflict_leads_a_part_that_has_no_lead_of_its_own():
    named = [drafted("They differ."), drafted("Again."), drafted("On that.", part="2")]
    apart = [("", ["Again.", "On that."])]
    ruled = describe(lay_out([drafted("Led.", "lead", "2")], *named))
    assert ("lead", ["They differ."]) in ruled and ruled[-1:] == apart
    assert [said for role, said in describe(lay_out([], *named)) if role == ""] == [["Again."]]
    assert describe(lay_out([drafted("A digest.")], *named)) == [
        ("", ["A digest."]),
        ("", [said.text for said in named]),
    ]


@pytest.mark.parametrize("first", [True, False])
def test_conflicts_stand_before_or_after_what_is_stated(first: bool):
    texts = [
        text
        for _, text in describe(lay_out([drafted("One.")], drafted("They differ."), conflicts_first=first))
    ]
    assert texts == ([["They differ."], ["One."]] if first else [["One."], ["They differ."]])
