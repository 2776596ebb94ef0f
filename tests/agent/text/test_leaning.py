"""Turns that need the ones before them, in several languages."""

from __future__ import annotations

import pytest

from agent.text.leaning import content, leans


@pytest.mark.parametrize(
    "question",
    [
        "And who pays for the postage?",
        "Is it dangerous?",
        "Why?",
        "What about international orders?",
        "Any awards?",
        "Kostet das etwas?",
        "Wie lange dauert es?",
        "Är den vattentät?",
        "Est-il étanche ?",
        "多少钱？",
        "这个记录仪的电池可以自己更换吗？",
        "それは防水ですか",
    ],
)
def test_these_lean(question: str) -> None:
    assert leans(question)


@pytest.mark.parametrize(
    "question",
    [
        "What does error E17 mean?",
        "Who won the football world cup in 1998?",
        "Wer gewann 1998 die Weltmeisterschaft?",
        "瑞典的首都是哪里？",
        "Vilken stad ligger vid Granvattnet?",
    ],
)
def test_these_stand_alone(question: str) -> None:
    assert not leans(question)


def test_content_words_are_kept_as_they_were_written() -> None:
    assert (
        content("Well, how do I return the Kallsteg C2?") == ["return", "Kallsteg", "C2"]
        and content("ok, thanks!") == []
    )
