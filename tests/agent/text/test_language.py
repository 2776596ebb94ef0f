"""Whether it is English that is spoken."""

from __future__ import annotations

import pytest

from agent.text.language import is_english


@pytest.mark.parametrize("text", ["How old is it?", "gout", "Thanks", "postage in Malmö?", "", "42"])
def test_english_or_nothing_that_tells(text: str) -> None:
    assert is_english(text)


@pytest.mark.parametrize(
    "text",
    [
        "Warum?",
        "Was kostet das?",
        "Varför?",
        "Hur lång tid tar det?",
        "Pourquoi ?",
        "Quelle est la capitale ?",
        "¿Cuánto cuesta?",
        "为什么？",
        "退回 C2 要多少钱？",
        "それは何ですか",
        "Сколько стоит?",
    ],
)
def test_other_languages(text: str) -> None:
    assert not is_english(text)


def test_a_turn_that_tells_nothing_is_in_the_language_of_its_talk() -> None:
    assert is_english("Porto?", ["How do I return it?"]) and not is_english(
        "Porto?", ["Wie schicke ich es zurück?"]
    )
    assert not is_english("Porto?", ["How are you?", "Wie geht es?"]), "the newest turn tells"
    assert is_english("And the postage?", ["Wie schicke ich es zurück?"]), "its own words go first"
