"""The language of a text; nothing for one that is too short."""

from __future__ import annotations

import pytest

from agent.text.language import MIN_QUESTION_LETTERS, detect_language
from tests.tables import by_table


@by_table
def test_the_language_of_a_question(text: str, language: str) -> None:
    assert detect_language(text, MIN_QUESTION_LETTERS) == language


@pytest.mark.parametrize("text", ["", "42", "Porto?", "ok"])
def test_a_short_text_has_none(text: str) -> None:
    assert detect_language(text) == detect_language(text, MIN_QUESTION_LETTERS) == ""
