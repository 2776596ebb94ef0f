"""Doings, and turns that only point at one."""

from __future__ import annotations

import pytest

from agent.text.doing import LONGEST, doing, done, undone


@pytest.mark.parametrize(
    ("former", "what"),
    [
        ("How do I return a logger?", "return a logger"),
        ("Can we visit the dairy on Sundays?", "visit the dairy on Sundays"),
        ("how to reset the alarm", "reset the alarm"),
        ("I want to sell my boat. Who buys boats?", "sell my boat"),
        ("Who runs the dairy?", ""),
        ("Can I help?", ""),
        ("How do I " + "very " * LONGEST + "well?", ""),
    ],
)
def test_a_doing_is_what_is_asked_to_do(former: str, what: str) -> None:
    assert doing(former) == what


@pytest.mark.parametrize(
    ("question", "made"),
    [
        ("Can I do that online?", "Can I return a logger online?"),
        ("And how long does it usually take?", "And how long does it usually take to return a logger?"),
        ("Must I do it myself?", "Must I return a logger myself?"),
        ("How long does it take to dry?", ""),
        ("What does that cost?", ""),
        ("Can I clean the lens? And how do I do that?", ""),
    ],
)
def test_a_turn_that_points_at_it(question: str, made: str) -> None:
    assert done(question, "How do I return a logger?") == made
    assert undone(question) or not made


def test_without_a_doing_there_is_nothing_to_put() -> None:
    assert done("Can I do that online?", "Who runs the dairy?") == ""
