"""The things a sentence names, and the part each plays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.text.phrases import LONGEST, keys, phrases, weighty


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("How do I return a Kallsteg C2 logger?", [("Kallsteg C2 logger", "object")]),
        ("What are the symptoms of gout?", [("symptoms", "head"), ("gout", "tail")]),
        ("Tell me about brass herons.", [("brass herons", "topic")]),
        ("Does rye bread keep longer than wheat?", [("rye bread", "subject"), ("wheat", "object")]),
        ("Is it?", []),
        ("Name the largest lakes of Sweden", [("lakes", "head"), ("Sweden", "tail")]),
        ("List a few ferries", [("ferries", "object")]),
        ("1998?", []),
    ],
)
def test_what_is_named_and_its_part(text: str, named: list[tuple[str, str]]) -> None:
    assert [(phrase.text, phrase.role) for phrase in phrases(text)] == named


def test_what_is_known_of_a_phrase() -> None:
    lake, town = phrases("Is the deep lake near Port Ember?")
    assert (lake.text, lake.the, lake.name, lake.plural) == ("deep lake", True, False, False)
    assert (town.text, town.name, town.place) == ("Port Ember", True, True)
    herons, cranes = phrases("What do herons and cranes eat?")
    assert herons.plural and cranes.plural and cranes.joined and not herons.joined


def test_an_owner_ends_its_phrase_without_the_ending() -> None:
    assert (
        phrases("What is Ada's age?")[0].keys == keys("Ada age")
        and "Ada" in phrases("Who is Ada's?")[0].words
    )


def test_keys_compare_over_case_number_and_accents() -> None:
    assert keys("Älvmora Dairies") == keys("alvmora dairy") != keys("Älvmora goats")


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("logger", True),
        ("the", False),
        ("thanks", False),
        ("best", False),
        ("NFL", True),
        ("x", False),
        ("7", True),
    ],
)
def test_words_that_name_something(word: str, says: bool) -> None:
    assert weighty(word) is says


@given(st.text())
def test_any_text_can_be_taken_apart(text: str) -> None:
    assert all(0 < len(phrase.words) <= LONGEST for phrase in phrases(text))
