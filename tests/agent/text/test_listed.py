"""Lists, and questions that pick from them."""

from __future__ import annotations

import pytest

from agent.text.listed import joined, lists, picked
from agent.types import Turn

OFFER = [
    Turn(
        user="Which loggers do you sell?",
        bot="We sell three loggers: the C1, the C2 and the C4 Pro. Which one do you want?",
    )
]
OWN = [Turn(user="Which is older, Port Ember or Lövnäs?")]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("We sell goats, sheep and cows.", [["goats", "sheep", "cows"]]),
        ("Is it Port Ember or Lövnäs?", [["Port Ember", "Lövnäs"]]),
        ("It has physical or social symptoms.", [["physical symptoms", "social symptoms"]]),
        ("1) Port Ember, 2) Lövnäs", [["Port Ember", "Lövnäs"]]),
        ("The heron stands in the lake.", []),
        ("", []),
    ],
)
def test_things_side_by_side(text: str, found: list[list[str]]) -> None:
    assert lists(text) == found


@pytest.mark.parametrize(
    ("question", "made"),
    [
        ("Tell me about the second one", "Tell me about the C2"),
        ("What does the last one cost?", "What does the C4 Pro cost?"),
        ("Which of them is cheapest?", "Which of C1, C2 and C4 Pro is cheapest?"),
        ("What is the difference between the first two?", "What is the difference between C1 and C2?"),
        ("Tell me about the fifth one", ""),
        ("What was the first logger of all?", ""),
        ("What does it cost?", ""),
    ],
)
def test_what_is_picked_from_the_newest_list(question: str, made: str) -> None:
    assert picked(question, OFFER) == made


def test_a_persons_own_list_is_picked_from_too() -> None:
    assert picked("And which of these is bigger?", OWN) == "And which of Port Ember and Lövnäs is bigger?"


def test_nothing_is_picked_where_nothing_was_offered() -> None:
    packing = [
        Turn(
            user="How do I return it?",
            bot="Ask for a return number, pack the logger in its box and send it off. That takes a day.",
        )
    ]
    assert picked("I have two of them. Can I return both?", packing) == "" == picked("The second one", [])


def test_joined() -> None:
    assert [joined(["a"]), joined(["a", "b"]), joined(["a", "b", "c"])] == ["a", "a and b", "a, b and c"]
