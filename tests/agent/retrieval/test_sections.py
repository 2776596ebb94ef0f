"""Headings that a page does not mark; words the texts do not know."""

from __future__ import annotations

import pytest

from agent.retrieval.passages import infer_headings
from agent.retrieval.scorer import find_unseen_terms
from agent.types import Heading, Outcome, Page


def read(text: str, **more) -> Page:
    return Page(
        url="https://a.example/",
        final_url="https://a.example/",
        outcome=Outcome.OK,
        title="Fever",
        text=text,
        **more,
    )


LONG = "This line is a sentence that goes on for quite some words indeed."


def test_a_short_line_above_a_longer_one_is_a_heading():
    page = infer_headings(read(f"Fever\nSymptoms\n{LONG}\nIs it bad?\n{LONG}\nA | B\n{LONG}"))
    assert [heading.text for heading in page.headings] == ["Symptoms"] and page.text[
        page.headings[0].start :
    ].startswith("Symptoms")


def test_marked_headings_are_left_as_they_are():
    marked = [Heading(start=0, level=2, text="One"), Heading(start=20, level=2, text="Two")]
    assert infer_headings(read(f"One\n{LONG}\nTwo\n{LONG}", headings=marked)).headings == marked


def test_strange_words_stand_nowhere_not_even_in_another_form():
    assert find_unseen_terms("Who directed the opera about bees?", ["The director of the opera"]) == ["bees"]
    assert find_unseen_terms("Who directed the opera?", []) == ["directed", "opera"]


@pytest.mark.parametrize(
    ("word", "text", "known"),
    [
        ("dairy", "Two dairies and a Dairy", True),
        ("faulty", "if it was faulty", True),
        ("red", "It reduces readings", False),
        ("red", "the reds", True),
        ("E4", "E40, E41 and AE4", False),
        ("E4", "(e4)", True),
        ("60", "600, 60.5 and 1,60", False),
        ("20000", "20,000 litres", True),
        ("60", "after 60 days.", True),
        ("logger", "Loggern visar", True),
        ("保修", "产品保修期为两年", True),
    ],
)
def test_short_words_codes_and_numbers_are_known_only_as_they_are(word: str, text: str, known: bool):
    assert (find_unseen_terms(word, [text]) == []) is known


def test_the_last_item_of_a_list_is_no_heading_of_what_follows():
    assert [
        heading.text
        for heading in infer_headings(read(f"Fever\nReturns\nPayment\nError codes\n{LONG}")).headings
    ] == []
