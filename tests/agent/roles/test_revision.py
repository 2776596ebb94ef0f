"""What rules understand of a note on an answer, without a model."""

from __future__ import annotations

import pytest

from agent.roles.report import revision_fallback as fallback
from agent.types import Note

QUESTION = "When was the cabin Varnstad built?"


@pytest.mark.parametrize(
    ("text", "searches"),
    [
        ("too vague: what does a night cost at each cabin?", ["what does a night cost at each cabin?"]),
        ("source?", ["Varnstad has 24 beds."]),
    ],
)
def test_a_question_in_a_comment_is_looked_for_in_place_of_its_sentence(text, searches):
    note = Note(step=1, text=text, kind="comment", about="s1", quoted="Varnstad has 24 beds.")
    found = fallback(question=QUESTION, notes=[note], parts=[])
    assert found.searches == searches and found.needs_research


def test_a_wish_that_refers_back_is_about_what_the_question_names():
    notes = [Note(step=1, text="about its price")]
    found = fallback(question="When was Varnstad built?", notes=notes, parts=[])
    assert found.searches == ["Varnstad’s price"] and found.needs_research
