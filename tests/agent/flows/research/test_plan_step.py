"""The plan of a run with a model: made beside the first search, and what it does not know is told."""

from __future__ import annotations

import pytest

from tests.web.researching_model import ASK, ROOF, SOLAR, Script, crawl, driven

pytestmark = pytest.mark.slow


def test_how_an_ambiguous_question_was_read_is_told_with_the_answer():
    two = {"parts": [{"question": SOLAR}], "ask": "Which dairy?", "readings": ["in Lövnäs", "in Tallåsen"]}
    state = driven(Script(ASK, crawl(ROOF), plan=two))[0].state
    told = "The question was read as “in Lövnäs”; it can also mean “in Tallåsen”."
    assert state.answer.journey.startswith(told)
