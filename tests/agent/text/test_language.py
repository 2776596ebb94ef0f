"""The language of a text; nothing for one that is too short."""

from __future__ import annotations

import pytest

from agent.text.language import MIN_QUESTION_LETTERS, detect_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Who pays for the postage of a return?", "en"),
        ("Wer bezahlt das Porto für die Rücksendung?", "de"),
        ("Hur lång tid tar det att få en ny lampa?", "sv"),
        ("Quelle est la durée de la garantie ?", "fr"),
        ("¿Cuánto cuesta la devolución?", "es"),
        ("Сколько стоит возврат товара?", "ru"),
    ],
)
def test_the_language_of_a_question(text: str, language: str) -> None:
    assert detect_language(text, MIN_QUESTION_LETTERS) == language


@pytest.mark.parametrize("text", ["", "42", "Porto?", "ok"])
def test_a_short_text_has_none(text: str) -> None:
    assert detect_language(text) == detect_language(text, MIN_QUESTION_LETTERS) == ""
