"""What thin turns lack, short names in full, and what "ones" are."""

from __future__ import annotations

import pytest

from agent.text.focus import listen
from agent.text.matter import heard, in_full, ones, with_matter
from agent.types import Turn

TALK = listen([Turn(user="How do I return a Kallsteg C2 logger?")])


def _known(_: str) -> bool:
    return False


@pytest.mark.parametrize(
    ("question", "made"),
    [
        ("Is there a fee?", "Is there a fee for the Kallsteg C2 logger?"),
        ("Risks?", "Risks of the Kallsteg C2 logger?"),
        ("Tell me more", "Tell me more about the Kallsteg C2 logger"),
        ("Why?", "Why? (Kallsteg C2 logger)"),
        ("And who pays for the postage?", "And who pays for the postage of the Kallsteg C2 logger?"),
        ("Is lava hot?", "Is lava hot?"),
        ("Yes", "Yes"),
        ("Where is Port Ember?", "Where is Port Ember?"),
        ("Do I have to keep the receipt of the shop?", "Do I have to keep the receipt of the shop?"),
    ],
)
def test_a_thin_turn_gets_the_matter_and_others_do_not(question: str, made: str) -> None:
    assert with_matter(question, TALK, _known) == made


def test_what_no_page_knows_is_not_the_matter() -> None:
    strange = {"Kallsteg", "C2", "logger"}.__contains__
    assert with_matter("Is there a fee?", TALK, strange) == "Is there a fee?" and not heard(
        TALK.ranked()[0], strange
    )


def test_a_short_name_is_given_in_full() -> None:
    talk = listen([Turn(user="Who runs Älvmora Mejeri?")])
    assert (
        in_full("Is the Mejeri open?", talk) == "Is the Älvmora Mejeri open?"
        and in_full("Is the bank open?", talk) == "Is the bank open?"
    )


def test_ones_are_of_the_kind_that_was_named() -> None:
    talk = listen([Turn(user="Which cheeses are mild?")])
    assert (
        ones("Which ones in Lövnäs?", talk) == "Which cheeses in Lövnäs?"
        and ones("Are there others?", talk) == "Are there other cheeses?"
    )
    assert ones("Which ones?", listen([Turn(user="Who is Ada Quill?")])) == "Which ones?"
