"""Pieces of questions, and the questions they belong to."""

from __future__ import annotations

import pytest

from agent.text.ellipsis import LONGEST, asks, piece, whole

RETURN = "How do I return a Kallsteg C2 logger?"


@pytest.mark.parametrize(
    ("turn", "left"),
    [
        ("And for a faulty one?", "for a faulty one"),
        ("What about Port Ember?", "Port Ember"),
        ("Okay, and the lid?", "the lid"),
        ("No, I meant the ferry.", "the ferry"),
        ("In winter?", "in winter"),
        ("And who pays?", ""),
        ("And is it new?", ""),
        ("The lid?", ""),
        ("What about " + "so " * LONGEST + "on?", ""),
        ("and", ""),
    ],
)
def test_what_is_left_of_a_turn(turn: str, left: str) -> None:
    assert piece(turn).lower() == left.lower()


@pytest.mark.parametrize(
    ("part", "former", "made"),
    [
        ("for a faulty one", RETURN, "How do I return a faulty Kallsteg C2 logger?"),
        ("a used one", RETURN, "How do I return a used Kallsteg C2 logger?"),
        ("in Norway", RETURN, "How do I return a Kallsteg C2 logger in Norway?"),
        ("in Norway", "Who sells ice in Sweden?", "Who sells ice in Norway?"),
        ("Port Ember", "How deep is the lake at Lövnäs?", "How deep is the lake at Port Ember?"),
        ("the lid", "How do I clean the glass?", "How do I clean the lid?"),
        ("the C1", RETURN, "How do I return a Kallsteg C1 logger?"),
        ("E18", "What does error E17 mean on the C2?", "What does error E18 mean on the C2?"),
        (
            "the homeless",
            "Is there help with taxes for farmers?",
            "Is there help with taxes for the homeless?",
        ),
        ("international orders", RETURN, "How do I return a Kallsteg C2 logger for international orders?"),
        ("the lid", "Thanks a lot", ""),
        ("the lid", "Why is it that " + "so " * 20 + "many people ask?", ""),
        ("", RETURN, ""),
    ],
)
def test_the_former_question_with_the_piece_in_it(part: str, former: str, made: str) -> None:
    assert whole(part, former) == made


def test_only_questions_are_asked_again() -> None:
    assert (
        asks("How do herons fly?")
        and asks("tell me about herons")
        and not asks("brass heron port")
        and not asks("Hi there")
    )


def test_a_long_run_of_blanks_or_stops_is_walked_once() -> None:
    for sign in " !.\n":
        assert piece(f"what about Rome{sign * 300_000}") == "Rome"
        assert piece(f"what about {sign * 300_000}x y z, Rome") in ("x y z, Rome", "")
        assert piece(f"what about Rome{sign * 300_000}x") is not None
