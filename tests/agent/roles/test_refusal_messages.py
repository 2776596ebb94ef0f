"""Which kind of refusal a question gets: not about the site, not said there, or pointing nowhere."""

from __future__ import annotations

import pytest

from agent.roles.refusal_messages import classify_refusal, is_unresolved_reference, write_refusal
from agent.types import Turn

BEFORE = [Turn(user="How do I return a lamp?", bot="By post.")]


@pytest.mark.parametrize(
    ("question", "strange", "kind"),
    [
        ("Write me a poem about love", ["poem", "love"], "off_topic"),
        ("What is the capital of France?", ["capital", "france"], "off_topic"),
        ("Which bank finances the lamp?", ["bank", "finances"], "not_covered"),
        ("Do you ship to Canada?", ["ship", "canada"], "not_covered"),
        ("Can I pay with PayPal?", ["paypal"], "not_covered"),
        ("Can you write a song about rain?", ["song", "rain"], "off_topic"),
        ("And that one?", [], "needs_clarification"),
    ],
)
def test_first_questions(question: str, strange: list[str], kind: str):
    assert classify_refusal(question, question, [], strange) == kind


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("And for a faulty one?", "How do I return a faulty lamp?"),
        ("What about a used one?", "What about a used one?"),
        ("And E4?", "And E4?"),
    ],
)
def test_what_goes_on_with_the_talk_is_never_off_topic(question: str, asked: str):
    assert classify_refusal(question, asked, BEFORE, ["faulty", "used", "e4"]) == "not_covered"


def test_a_new_question_of_a_conversation_can_be_off_topic():
    question = "Which football club won the European cup in Lisbon?"
    assert (
        classify_refusal(question, question, BEFORE, ["football", "club", "won", "european", "cup", "lisbon"])
        == "off_topic"
    )


def test_a_message_names_the_site_and_the_words_it_failed_for():
    assert "“Japan”" in write_refusal("not_covered", "a.example", ["Japan"]) and "a.example" in write_refusal(
        "off_topic", "a.example", []
    )
    assert write_refusal("needs_clarification", "a.example", []).endswith("?")


def test_a_question_that_names_its_matter_does_not_hang():
    assert (
        not is_unresolved_reference("How long is the warranty?")
        and is_unresolved_reference("And that one?")
        and not is_unresolved_reference("What does W05 mean?")
    )
