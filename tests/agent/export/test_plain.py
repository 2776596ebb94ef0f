"""The answer in a terminal: numbers that resolve, the backing line, and a refusal that explains itself."""

from __future__ import annotations

from agent.export.plain import render_plain_text
from agent.types import Answer, Sentence, Source, StatementCounts
from tests.records import fill

SOURCES = [
    fill(
        Source,
        n=1,
        url="https://a.example/",
        title="A page",
        quotes=["first quote", "second quote"],
        fact_ids=["f1", "f2"],
    ),
    fill(Source, n=2, url="https://b.example/", quotes=["third quote"], fact_ids=["f3"]),
]


def answered(*sentences: Sentence, **more) -> Answer:
    plain_answer = {
        "n": 1,
        "verdict": "answered",
        "sources": SOURCES,
        "statements": StatementCounts(backed=1),
        "confidence": 0.876,
        "by": "model",
    }
    return Answer(**{**plain_answer, "sentences": list(sentences), **more})


def test_sentences_carry_the_numbers_of_their_sources():
    told = render_plain_text(
        answered(
            Sentence(text="One.", fact_ids=["f2"], backed=True),
            Sentence(text="Two.", fact_ids=["f3", "f1"], backed=True),
        )
    )
    assert told.splitlines()[0] == "One. [1] Two. [1, 2]"
    assert "[1] A page — https://a.example/\n    “first quote”" in told
    assert "[2] https://b.example/ — https://b.example/" in told, (
        "a source without a title is named by its address"
    )


def test_what_is_not_backed_is_marked_and_counted():
    told = render_plain_text(
        answered(
            Sentence(text="One.", fact_ids=["f1"], backed=True),
            Sentence(text="Two."),
            statements=StatementCounts(backed=1, unsupported=1),
        )
    )
    assert told.splitlines()[0] == "One. [1] Two. (not supported)" and "1 of 2 supported" in told


def test_certainty_missing_and_journey_are_told():
    told = render_plain_text(
        answered(
            Sentence(text="One.", fact_ids=["f1"], backed=True),
            verdict="partial",
            certainty="High.",
            missing="The month.",
            assumed="It is meant.",
            journey="One search.",
        )
    )
    assert told.splitlines()[2] == (
        "Partly answered. Not answered: The month. High. Send it back with what to look for."
    )
    assert "Assumed: It is meant." in told and told.endswith("\n\nOne search.")


def test_no_answer_says_why():
    told = render_plain_text(
        Answer(
            n=1,
            verdict="no_evidence",
            reason="blocked",
            certainty="Nothing could be read.",
            journey="2 searches.",
        )
    )
    assert told.splitlines() == [
        "Nothing could be read. Try again later, or give an address to read.",
        "2 searches.",
    ]
