"""Headings that a page does not mark; words the texts do not know."""

from __future__ import annotations

from agent.retrieval.passages import infer_headings
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


def test_the_last_item_of_a_list_is_no_heading_of_what_follows():
    assert [
        heading.text
        for heading in infer_headings(read(f"Fever\nReturns\nPayment\nError codes\n{LONG}")).headings
    ] == []
