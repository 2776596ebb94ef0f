"""What rules understand of a note on an answer, and what they leave."""

from __future__ import annotations

from typing import Any

import pytest

from agent.roles.note_requests import read_note
from agent.roles.report import REVISION
from agent.types import Note, PlanPart

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
        ("Go on with this, please.", {"wants_more": True}),
        (
            "Shorter. Only trust the harbour office.",
            {"length": "brief", "is_shorter": True, "rest": ["Only trust the harbour office."]},
        ),
        ("Leave out the first question", {"rest": ["Leave out the first question"]}),
        ("only question 0", {"rest": ["only question 0"]}),
        ("Please!", {}),
    ],
)
def test_a_note_is_read(note: str, understood: dict[str, Any]) -> None:
    assert read(note) == understood


@pytest.mark.parametrize("note", ["source?", "too vague", "recent figures", "Is this still true?"])
def test_a_comment_asks_for_what_its_sentence_says(note: str) -> None:
    assert read(note, is_comment=True) == {}
    assert read("I do not like this", is_comment=True) == {"rest": ["I do not like this"]}


@pytest.mark.parametrize(
    ("comment", "wanted"),
    [
        ("the number of berths, not the passengers", "the number of berths"),
        ("berths instead of passengers", "berths"),
        ("die Kojen, nicht die Fahrgäste", "die Kojen"),
        ("die Kojen ohne die Fahrgäste", "die Kojen"),
    ],
)
def test_what_a_comment_sets_against_its_wish_is_not_searched_for(comment: str, wanted: str) -> None:
    assert read(comment, is_comment=True) == {"topics": [wanted], "is_instead": True}
    note = Note(
        text=comment, kind="comment", step=1, quoted="The ferry Alva took 912 passengers.", about="s1"
    )
    reply = REVISION.fallback(question="Which ferry is largest?", notes=[note], parts=[])
    assert reply.searches == [f"{wanted} Alva"] and reply.needs_research
    assert not reply.excluded_topics


def test_a_part_that_the_plan_does_not_have_is_told_as_not_understood() -> None:
    note = Note(step=3, text="only the fifth question", kind="send_back")
    parts = [PlanPart(id="1", question="Which ferry is largest?")]
    reply = REVISION.fallback(question="Which ferry is largest?", notes=[note], parts=parts)
    assert reply.not_understood == ["only the fifth question"] and not (reply.only_parts or reply.about)
