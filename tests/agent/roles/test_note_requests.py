"""What rules understand of a note on an answer, and what they leave."""

from __future__ import annotations

from typing import Any

import pytest

from agent.roles.note_requests import read_note

EMPTY = vars(read_note(""))


def read(note: str, **more: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(read_note(note, **more)).items() if value != EMPTY[name]}


@pytest.mark.parametrize(
    ("note", "understood"),
    [
        ("without wiki.example", {"sites": ["wiki.example"]}),
        ("Not from a.example, and shorter.", {"sites": ["a.example"], "length": "brief", "is_shorter": True}),
        ("Please make it shorter, in 100 words.", {"length": "brief", "is_shorter": True, "max_words": 100}),
        ("only the second question", {"part": 1, "is_only_part": True}),
        (
            "nur die zweite Frage, kürzer",
            {"part": 1, "is_only_part": True, "length": "brief", "is_shorter": True},
        ),
        ("the last part", {"part": -1}),
        ("about its price", {"topics": ["its price"]}),
        ("Mehr über den Preis, ohne wiki.example", {"sites": ["wiki.example"], "topics": ["den Preis"]}),
        ("more on the ferry", {"topics": ["the ferry"]}),
        ("Also say who runs it.", {"topics": ["who runs it"]}),
        ("Which year?", {"topics": ["Which year?"]}),
        ("Read https://a.example/b first.", {"addresses": ["https://a.example/b"]}),
        ("leave out dividends", {"unwanted": ["leave out dividends"]}),
        ("a full report", {"length": "full"}),
        ("Go on with this, please.", {"rest": ["Go on with this, please."]}),
        (
            "Shorter. Only trust the harbour office.",
            {"length": "brief", "is_shorter": True, "rest": ["Only trust the harbour office."]},
        ),
        ("Please!", {}),
    ],
)
def test_a_note_is_read(note: str, understood: dict[str, Any]) -> None:
    assert read(note) == understood


@pytest.mark.parametrize("note", ["source?", "too vague", "recent figures", "Is this still true?"])
def test_a_comment_asks_for_what_its_sentence_says(note: str) -> None:
    assert read(note, is_comment=True) == {}
    assert read("I do not like this", is_comment=True) == {"rest": ["I do not like this"]}
