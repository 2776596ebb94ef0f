"""Thanks, greetings, and the form of a question."""

from __future__ import annotations

import pytest

from agent.text.manners import asks, asks_again, courtesy


@pytest.mark.parametrize(
    "text", ["thanks", "Thanks a lot!", "ok great, thank you so much", "tack så mycket", "Danke!", "got it", "bye", "Perfect, that helps.", "OK"]
)
def test_thanks_are_thanks(text: str) -> None:
    assert courtesy(text) == "thanks"


@pytest.mark.parametrize("text", ["hello", "Hi there!", "good morning", "how are you?", "God morgon!", "Hello, how are you today?"])
def test_greetings_are_greetings(text: str) -> None:
    assert courtesy(text) == "greeting"


@pytest.mark.parametrize(
    "text", ["", "?", "the ferry", "good dentist", "great blue heron", "Thanks, and the price?", "yes", "2", "okapi", "Hi, who owns it?"]
)
def test_who_says_anything_besides_is_not_only_polite(text: str) -> None:
    assert courtesy(text) == ""


@pytest.mark.parametrize(
    "text",
    ["who owns it", "great, when does it leave", "Tell me more", "the ferry?", "Hur gammal är hon", "列車は何時ですか？", "wie viel kostet das"],
)
def test_questions_and_requests_ask(text: str) -> None:
    assert asks(text)


@pytest.mark.parametrize("text", ["the ferry", "I mean the one in Skarholm", "children under seven", "yes", ""])
def test_what_tells_does_not_ask(text: str) -> None:
    assert not asks(text)


def test_what_is_wanted_once_more() -> None:
    assert asks_again("Can you repeat that?") and asks_again("Sum up, please") and not asks_again("Who built it?")
