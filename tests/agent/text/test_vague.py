"""Questions that speak of something as known although nobody named it."""

from __future__ import annotations

import pytest

from agent.text.vague import vague
from agent.types import Turn

DAIRY = [Turn(user="Who runs Älvmora Mejeri?", bot="Ida Holmqvist runs the dairy in Lövnäs.")]


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("How much does it cost?", "it"),
        ("What awards has this actor won?", "this actor"),
        ("Who directed that?", ""),
        ("Why?", "Why"),
        ("How many people live in this county?", "this county"),
        ("How much does the Kallsteg C2 cost?", ""),
        ("Who invented the wheel?", ""),
        ("Is it true that herons sleep?", ""),
        ("Vad kostar den?", ""),
    ],
)
def test_at_the_beginning_of_a_talk(question: str, words: str) -> None:
    assert vague(question, []) == words


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("When did the actor die?", "the actor"),
        ("When was it founded?", ""),
        ("How big is the dairy?", ""),
        ("Where is the nearest shop?", ""),
        ("When did the actor who played Ada die?", ""),
        ("How old is the city?", ""),
    ],
)
def test_within_a_talk_what_was_named_is_known(question: str, words: str) -> None:
    assert vague(question, DAIRY) == words


def test_the_city_is_unknown_where_no_place_was_named() -> None:
    assert vague("How old is the city?", [Turn(user="How do herons sleep?", bot="On one leg.")]) == "the city"
