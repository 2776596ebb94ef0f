"""What a question asks about the thing it names: codes and names exactly, other words by kin, and what a site is about left out."""

from __future__ import annotations

import pytest

from agent.text.point import as_spelled, exact_words, point, rough_words, subject_of, uncapped


@pytest.mark.parametrize(
    ("question", "exact"),
    [
        ("What does error E17 mean?", {"e17"}), ("what does it cost in japan", set()), ("What is the price of the C2 in Japan?", {"c2", "japan"}),
        ("Is PayPal accepted?", {"paypal"}), ("Refund policy", set()), ("Write me a poem", set()), ("Investment Portfolio Setup for all", set()),
        ("How Much Does It Cost In Japan?", set()), ("Who is the CEO of Kallsteg?", {"kallst"}), ("Is the 60 kg model sold?", set()),
    ],
)  # fmt: skip
def test_codes_and_names_inside_a_question_have_to_be_met_as_they_are(question: str, exact: set[str]):
    assert exact_words(question) == exact


def test_a_point_is_met_by_kindred_words_a_code_only_by_itself():
    price = point("How much does it cost?")
    assert price.share(rough_words(["The price is 90 kr"])) == 1 and price.share(rough_words(["It is blue"])) == 0
    error = point("What does error E4 mean?")
    assert error.lacks(rough_words(["Error E40 is a fault"])) == {"e4"} and not error.lacks(rough_words(["(E4) Full"]))


def test_what_the_site_is_about_is_not_what_is_asked_about_it():
    pages = [rough_words([text]) for text in ("The lamp is green", "A lamp for rooms", "Lamps and their prices")]
    about = subject_of(pages)
    assert "lamp" in about and set(point("Does the lamp come in red?", about).words) == {"red"}
    assert subject_of(pages[:2]) == frozenset(), "two pages tell nothing of what a site is about"
    assert point("Tell me about lamps", about).share(set()) == 1.0


def test_faint_words_count_only_where_nothing_else_is_asked():
    assert not point("Which is the best one?").telling and point("When was the dairy founded?").telling


def test_words_are_told_as_the_question_spells_them_and_a_common_first_word_is_no_name():
    assert as_spelled("Is E4 sold in Japan?", ["japan", "e4", "other"]) == ["Japan", "E4", "other"]
    assert uncapped("Write me a poem") == "write me a poem" and uncapped("Kallsteg makes what?") == "Kallsteg makes what?"
