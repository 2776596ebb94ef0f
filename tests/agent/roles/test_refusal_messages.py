"""Which kind of refusal a question about a site gets, and its words."""

from __future__ import annotations

import pytest

from agent.roles.site import refuse
from agent.text.dialogue_acts import is_unresolved_reference
from agent.types import Turn

BEFORE = [Turn(user="How do I return a lamp?", bot="By post.")]


@pytest.mark.parametrize(
    ("question", "unseen", "kind"),
    [
        ("Write a poem about love", ["write", "poem", "love"], "off_topic"),
        ("What is the capital of France?", ["capital", "france"], "off_topic"),
        ("Which bank finances the lamp?", ["bank", "finances"], "not_covered"),
        ("And that one?", [], "needs_clarification"),
        ("Welche Bank bezahlt die Lampe und warum?", ["bank"], "not_covered"),
    ],
)
def test_first_questions(question: str, unseen: list[str], kind: str) -> None:
    assert refuse(question, [], ["The lamp is sold by the shop."], unseen, "a.example")[0] == kind


@pytest.mark.parametrize("question", ["And for a faulty one?", "And E4?", "And that one?"])
def test_a_later_turn_is_never_off_topic(question: str) -> None:
    assert refuse(question, BEFORE, ["The lamp."], ["faulty", "e4"], "a.example")[0] == "not_covered"


def test_a_message_names_the_site_and_the_missing_words() -> None:
    _, message = refuse("Is the lamp sold in Japan?", [], ["The lamp is sold."], ["japan"], "a.example")
    assert "“japan”" in message and "a.example" in message
    assert refuse("And that one?", [], [], [], "a.example")[1].endswith("?")


def test_a_question_that_names_its_subject_is_resolved() -> None:
    assert not is_unresolved_reference("How long is the warranty?") and is_unresolved_reference(
        "And that one?"
    )
    assert not is_unresolved_reference("What does W05 mean?")
    assert not is_unresolved_reference("What does LETS stand for?") and is_unresolved_reference("WHAT IS IT?")
