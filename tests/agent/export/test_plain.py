"""The answer in a terminal: numbers that resolve, the backing line, and a refusal that explains itself."""

from __future__ import annotations

from agent.export.plain import render_plain_text
from agent.types import Answer, Sentence, Source, StatementCounts
from tests.records import fill

QUOTES = ["first quote", "second quote"]
SOURCES = [
    fill(
        Source,
        n=1,
        url="https://a.example/",
        title="A page",
        page_id="p1",
        quotes=QUOTES,
        fact_ids=["f1", "f2"],
    ),
    fill(
        Source, n=2, url="https://b.example/", title="", page_id="p2", quotes=["third quote"], fact_ids=["f3"]
    ),
]
ONE = fill(Sentence, text="One.", fact_ids=["f2"], backed=True)


def told(*more: Sentence, **given: object) -> list[str]:
    known = {
        "verdict": "answered",
        "sources": SOURCES,
        "statements": StatementCounts(backed=1),
        "by": "model",
    }
    return render_plain_text(fill(Answer, n=1, **known | {"sentences": [ONE, *more]} | given)).splitlines()


def test_sentences_carry_the_numbers_of_their_sources() -> None:
    lines = told(fill(Sentence, text="Two.", fact_ids=["f3", "f1"], backed=True))
    assert lines[0] == "One. [1] Two. [1, 2]"
    assert lines[lines.index("[1] A page — https://a.example/") + 1] == "    “first quote”"
    assert "[2] https://b.example/ — https://b.example/" in lines, "without a title it has its address"


def test_what_is_not_backed_is_marked_and_counted() -> None:
    lines = told(fill(Sentence, text="Two."), statements=StatementCounts(backed=1, unsupported=1))
    assert lines[0] == "One. [1] Two. (not supported)" and "1 of 2 supported" in "\n".join(lines)


def test_certainty_missing_and_journey_are_told() -> None:
    more = {
        "certainty": "High.",
        "missing": "The month.",
        "assumed": "It is meant.",
        "journey": "One search.",
    }
    lines = told(verdict="partial", **more)
    end = "Not answered: The month. High. Send it back with what to look for."
    assert lines[2] == f"Partly answered. {end}"
    assert "Assumed: It is meant." in lines and lines[-2:] == ["", "One search."]


def test_no_answer_says_why() -> None:
    why = {"verdict": "no_evidence", "reason": "blocked", "certainty": "Nothing could be read."}
    assert told(**why, journey="2 searches.", sentences=[]) == [
        "Nothing could be read. Try again later, or give an address to read.",
        "2 searches.",
    ]
