"""The text that is posted: a lead, its passages as a list, the next lead as a paragraph; whole sentences
within the length."""

from __future__ import annotations

from agent.evidence.report_words import words_for
from agent.flows.reply.write import _fit_length
from agent.types import Sentence

WORDS = words_for("When do backups run?")


def said(text: str, role: str = "", check: str = "quoted", **more: str) -> Sentence:
    return Sentence(text=text, block=role, check=check, backed=True, **more)


def test_leads_are_paragraphs_and_passages_items():
    told = [said("Led.", "lead"), said("More.", "passage"), said("Rest.", "passage"), said("Next.", "lead")]
    assert _fit_length(told, 100, WORDS)[0] == "Led.\n- More.\n- Rest.\n\nNext."


def test_a_sentence_about_a_conflict_stands_apart_from_the_list():
    told = [said("Led.", "lead"), said("More.", "passage"), said("The sources differ.")]
    assert _fit_length(told, 100, WORDS)[0] == "Led.\n- More.\n\nThe sources differ."


def test_sentences_of_a_model_run_on_and_its_list_items_do_not():
    assert _fit_length([said("One."), said("Two."), said("- Three.")], 100, WORDS)[0] == "One. Two.\n- Three."


def test_what_does_not_fit_is_left_out_whole():
    text, fitted = _fit_length([said("Led.", "lead"), said("Passage.", "passage")], 14, WORDS)
    assert text == "Led." and [sentence.text for sentence in fitted] == ["Led."]


def test_what_is_disputed_or_was_not_checked_is_posted_with_its_mark():
    told = [
        said("One."),
        said("Two.", disputed="b says so"),
        said("Three.", check="not_checked").replace(backed=False),
    ]
    assert _fit_length(told, 100, WORDS)[0] == "One. Two. (disputed) Three. (not checked)"
    assert _fit_length(told, 18, WORDS)[0] == "One.", "a mark is part of its sentence"
