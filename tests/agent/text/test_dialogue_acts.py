"""The form of a question."""

from __future__ import annotations

import pytest

from agent.text.dialogue_acts import is_question


@pytest.mark.parametrize(
    "text",
    [
        "who owns it",
        "great, when does it leave",
        "Tell me more",
        "the ferry?",
        "Hur gammal är hon",
        "列車は何時ですか？",
        "wie viel kostet das",
    ],
)
def test_questions_and_requests_ask(text: str) -> None:
    assert is_question(text)


@pytest.mark.parametrize(
    "text", ["the ferry", "I mean the one in Skarholm", "children under seven", "yes", ""]
)
def test_what_tells_does_not_ask(text: str) -> None:
    assert not is_question(text)
