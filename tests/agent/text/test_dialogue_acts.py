"""Thanks, greetings, and the form of a question."""

from __future__ import annotations

import pytest

from agent.text.dialogue_acts import (
    classify_small_talk,
    is_bare_repeat_request,
    is_question,
    reply_to_small_talk,
)


@pytest.mark.parametrize(
    "text", ["thanks", "Thanks a lot!", "ok great, thank you so much", "tack så mycket", "Danke!"]
)
def test_thanks_are_thanks(text: str) -> None:
    assert classify_small_talk(text) == "thanks"


@pytest.mark.parametrize("text", ["got it", "bye", "Perfect, that helps.", "OK", "ok great"])
def test_assent_is_assent(text: str) -> None:
    assert classify_small_talk(text) == "assent"


@pytest.mark.parametrize(
    "text", ["hello", "Hi there!", "good morning", "how are you?", "God morgon!", "Hello, how are you today?"]
)
def test_greetings_are_greetings(text: str) -> None:
    assert classify_small_talk(text) == "greeting"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "?",
        "the ferry",
        "good dentist",
        "great blue heron",
        "Thanks, and the price?",
        "yes",
        "2",
        "okapi",
        "Hi, who owns it?",
    ],
)
def test_who_says_anything_besides_is_not_only_polite(text: str) -> None:
    assert classify_small_talk(text) == ""


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


@pytest.mark.parametrize("text", ["Can you repeat that?", "Sum up, please", "Say that again, shorter!"])
def test_what_is_wanted_once_more(text: str) -> None:
    assert is_bare_repeat_request(text)


@pytest.mark.parametrize(
    "text",
    [
        "Who built it?",
        "How many kilograms did you say, and how many cells a day?",
        "What did you say about the tickets?",
        "Can you repeat that, and who built it?",
    ],
)
def test_a_request_that_names_something_is_no_bare_repetition(text: str) -> None:
    assert not is_bare_repeat_request(text)


def test_a_courtesy_is_answered_in_kind():
    assert (
        reply_to_small_talk("Thanks!").startswith("You are welcome")
        and reply_to_small_talk("Hello").startswith("Hello")
        and reply_to_small_talk("ok, great").startswith("All right")
    )
    assert reply_to_small_talk("Thanks, and who pays the postage?") == ""
