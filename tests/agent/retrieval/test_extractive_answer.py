"""Quotes that fit a question: the section named in the question, else the best sentences."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent.retrieval.extractive_answer import (
    MAX_QUOTES,
    find_best_quotes,
    find_unknown_codes,
    quote_answer,
    score_relevance,
)
from agent.retrieval.passages import split_passages
from agent.types import Heading, Outcome, Page, Passage, Table

ROWS = [["Colour", "green"], ["Price", "90 kr"]]


def page(text: str, title: str = "The Lux lamp", headings: tuple[str, ...] = ()) -> list[Passage]:
    start = text.find("Colour |")
    tables = [Table(start=start, end=len(text), rows=ROWS, headed=False)] if start >= 0 else []
    marked = [Heading(start=text.find(heading), level=2, text=heading) for heading in headings]
    read = Page(
        url="https://a.example/",
        final_url="https://a.example/",
        outcome=Outcome.OK,
        title=title,
        text=text,
        tables=tables,
        headings=marked,
    )
    return split_passages(read, "p")


def quoted(question: str, passages: list[Passage], words: int = 110, sentences: int = 4) -> list[str]:
    return [
        quote.statement
        for quote in quote_answer(question, passages, 1.0, max_words=words, max_sentences=sentences)
    ]


CARE = (
    "Colours\nThe lamp is sold in green.\nCleaning\nWipe it with a dry cloth. Never use water on it at all."
)


def test_the_section_whose_heading_names_what_is_asked_is_quoted_from_its_start() -> None:
    found = page(CARE, headings=("Colours", "Cleaning"))
    assert quoted("Cleaning the Lux lamp?", found) == [
        "Wipe it with a dry cloth.",
        "Never use water on it at all.",
    ]
    assert quoted("Cleaning the Lux lamp?", found, words=7) == ["Wipe it with a dry cloth."]


def test_a_row_is_stated_with_its_name() -> None:
    text = "The Lux lamp is a lamp for rooms of every kind.\n\nColour | green\nPrice | 90 kr"
    assert quoted("Which colour and which price?", page(text)) == ["Colour: green", "Price: 90 kr"]


def test_the_limits_hold_and_a_repeated_sentence_is_left_out() -> None:
    text = " ".join(f"The warranty of the Lux lamp is {n} years in country number {n}." for n in range(9))
    assert len(quoted("How long is the warranty of the Lux lamp?", page(text), sentences=3)) <= 3
    twice = "The warranty of the Lux lamp is two years.\n\nThe warranty of the Lux lamp is two years."
    assert len(quoted("How many years of warranty has the Lux lamp?", page(twice))) == 1
    assert quoted("Who?", []) == [] and quoted("Zebra?", page(CARE)) == []


def test_a_code_that_no_passage_holds_is_not_answered() -> None:
    found = page("The Lux lamp blinks E31 when it is too hot.")
    assert quoted("Why does the Lux lamp blink E32?", found) == [] and find_unknown_codes("E32?", found) == [
        "e32"
    ]
    assert quoted("Why does the Lux lamp blink E31?", found) and find_unknown_codes("E31?", found) == []


def test_the_best_quotes_of_a_page_carry_their_passage_and_score() -> None:
    found = find_best_quotes("In which colour is the lamp sold?", page(CARE))
    assert found[0].quote == "The lamp is sold in green." and found[0].passage_id == "p:0"
    assert 0 < found[-1].score <= found[0].score <= 1 and len(found) <= MAX_QUOTES


def test_relevance_is_that_of_the_best_sentence_or_section() -> None:
    found = page(CARE, headings=("Colours", "Cleaning"))
    assert (
        score_relevance("Cleaning the Lux lamp?", found)
        > 0.8
        > score_relevance("Who won the cup?", found)
        == 0
    )
    assert score_relevance("Who?", []) == 0


@given(st.text(), st.text(max_size=400), st.text(max_size=40))
def test_any_page_is_quoted_word_for_word(question: str, text: str, title: str) -> None:
    found = page(text, title)
    quotes = quote_answer(question, found, 1.0, max_words=20, max_sentences=3)
    assert all(quote.quote in text for quote in quotes) and 0 <= score_relevance(question, found) <= 1
