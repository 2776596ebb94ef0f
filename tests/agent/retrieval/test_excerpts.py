"""What makes an answer, word for word: of the thing itself, in the paragraph, and speaking to the words that
are asked about."""

from __future__ import annotations

from agent.retrieval.chunking import split_passages
from agent.retrieval.excerpts import choose_quotes, find_unanswered_words
from agent.types import Outcome, Page, Passage, Table

ROWS = [["Colour", "green"], ["Price", "90 kr"]]


def page(text: str, title: str = "The Lux lamp") -> list[Passage]:
    start = text.find("Colour |")
    tables = [Table(start=start, end=len(text), rows=ROWS, headed=False)] if start >= 0 else []
    return split_passages(
        Page(
            url="https://a.example/",
            final_url="https://a.example/",
            outcome=Outcome.OK,
            title=title,
            text=text,
            tables=tables,
        ),
        "p",
    )


def told(question: str, text: str) -> list[str]:
    return [quote.statement for quote in choose_quotes(question, question, page(text))]


def test_a_yes_or_no_question_is_not_answered_by_a_sentence_about_another_thing():
    text = "Hold the blue key for three seconds to begin."
    assert told("Does the Lux lamp come in blue?", text) == [] and told(
        "Which key starts the Lux lamp, the blue one?", text
    )
    assert told("Does the Lux lamp come in blue?", "It comes in blue and in a soft red.") == [
        "It comes in blue and in a soft red."
    ]


def test_the_row_that_names_what_is_asked_is_told_alone():
    text = "The Lux lamp is a lamp for rooms of every kind.\n\nColour | green\nPrice | 90 kr"
    assert told("How much does the Lux lamp cost?", text) == ["Price: 90 kr"]


def test_the_sentence_behind_comes_along_only_from_the_same_paragraph_and_when_it_goes_on():
    goes_on = "The warranty of the Lux lamp is two years. It does not cover the bulb."
    assert told("How many years of warranty has the Lux lamp?", goes_on) == goes_on.replace(
        ". It", ".|It"
    ).split("|")
    aside = "The warranty of the Lux lamp is two years.\n\nIt rains a lot in the north of the country."
    assert told("How many years of warranty has the Lux lamp?", aside) == [
        "The warranty of the Lux lamp is two years."
    ]


def test_one_or_two_words_have_to_be_met_each_and_of_more_at_least_half():
    found = page("The Lux lamp comes in green and costs 90 kr here.")
    quotes = choose_quotes("Does the Lux lamp come in green?", "Does the Lux lamp come in green?", found)
    assert find_unanswered_words("Does the Lux lamp come in green?", quotes, found) == []
    assert find_unanswered_words("Is the green lamp dimmable?", quotes, found, frozenset({"lamp"})) == [
        "dimmable"
    ]
    assert find_unanswered_words("Is the green lamp cheap, at a cost in kr?", quotes, found) == []
    assert find_unanswered_words("Is anything sold?", [], found) == [], "nothing told leaves nothing out"
