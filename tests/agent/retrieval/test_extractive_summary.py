"""A source in a line: its title, the first sentence that tells something, its headings."""

from __future__ import annotations

import pytest

from agent.retrieval.passages import MAX_DESCRIPTION_CHARS, describe_page
from agent.types import Heading, Outcome, Page, Table


def page(text: str, title: str = "", *headings: str, tables: list[Table] | None = None) -> Page:
    found = [Heading(start=max(0, text.find(heading)), level=2, text=heading) for heading in headings]
    return Page(
        url="file:a.txt",
        final_url="file:a.txt",
        outcome=Outcome.OK,
        text=text,
        title=title,
        headings=found,
        tables=tables or [],
    )


def test_the_first_sentence_that_tells_something():
    assert (
        describe_page(page("Menu\nHome\nHerons eat fish and small frogs. They nest in trees.", "Herons"))
        == "Herons: Herons eat fish and small frogs."
    )


def test_headings_follow_but_not_the_title_or_the_numbers_of_pages():
    told = describe_page(
        page(
            "Herons\nNests\nFood\nHerons eat fish and small frogs.",
            "Herons",
            "Herons",
            "Nests",
            "Food",
            "Page 3",
        )
    )
    assert told == "Herons: Herons eat fish and small frogs. — Nests; Food"


def test_a_sentence_without_blanks_between_words_counts_by_its_characters():
    assert (
        describe_page(page("茶\n普洱茶产于云南，存放多年后味道更醇厚。", "茶"))
        == "茶: 普洱茶产于云南，存放多年后味道更醇厚。"
    )


def test_a_table_is_described_by_its_header():
    text = "name | kind | address | open on all the days of the week.\nA | b | c | d"
    assert describe_page(page(text, "places", tables=[Table(start=0, end=len(text))])).startswith(
        "places: name | kind"
    )


@pytest.mark.parametrize("text", ["", "x", "word " * 2000, "长" * 2000])
def test_it_is_never_empty_and_never_long(text):
    assert 0 < len(describe_page(page(text, "", "heading " * 50))) <= MAX_DESCRIPTION_CHARS
    assert describe_page(page("")) == "file:a.txt"
