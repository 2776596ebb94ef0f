"""Turns that lean on the ones before them, and what is added to them."""

from __future__ import annotations

import pytest

from agent.text.followup import ADDED, standalone
from agent.text.leaning import leans
from agent.types import Turn

BEFORE = [Turn(user="Tell me about Mount Everest"), Turn(user="How do I return a Kallsteg C2 logger?")]


LEANING = ("And who pays for the postage?", "Is it dangerous?", "What about international orders?", "Why?", "Kostet das etwas?")
ALONE = ("What does error E17 mean?", "Who won the football world cup in 1998?", "How do solar panels generate electricity?")


@pytest.mark.parametrize("question", LEANING)
def test_these_lean(question):
    assert leans(question)


@pytest.mark.parametrize("question", ALONE)
def test_these_stand_alone(question):
    assert not leans(question) and standalone(question, BEFORE) == question


def test_the_newest_turn_lends_its_names_first_and_not_too_many():
    asked = standalone("And who pays for the postage?", BEFORE)
    assert asked.startswith("And who pays for the postage") and "Kallsteg C2" in asked and "Everest" not in asked
    assert len(asked.split()) - len("And who pays for the postage".split()) <= ADDED + 2


def test_words_the_pages_do_not_know_are_not_what_is_meant():
    assert "Kallsteg" not in standalone("Is it dangerous?", BEFORE, unheard=lambda word: word in ("Kallsteg", "C2", "logger"))


def test_without_earlier_turns_nothing_is_added():
    assert standalone("Is it dangerous?", []) == "Is it dangerous?"
