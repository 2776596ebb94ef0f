"""Titles and subjects tell two things apart; a page without either does not."""

from __future__ import annotations

import pytest

from agent.evidence.contradiction import is_same_thing
from agent.types import Fact


def said(statement: str, title: str = "", **more: str) -> Fact:
    return Fact(id=f"{statement}{title}", statement=statement, quote=statement, title=title, **more)


@pytest.mark.parametrize(
    ("title", "other", "same"),
    [
        ("The Tide (1953 film)", "The Tide (1997 film)", False),
        ("The Tide (film)", "The Tide (1997 film)", True),
        ("The Tide (1997 film) - Kinobase", "The Tide (1997 film) | Reel", True),
        ("The Tide", "The Tide (1997 film)", True),
        ("Vik, Agder", "Vik, Telemark", False),
        ("The Tide (novel)", "The Ebb (film)", False),
        ("", "The Tide (1997 film)", True),
    ],
)
def test_titles_tell_namesakes_apart(title: str, other: str, same: bool):
    one, two = said("It opened in May.", title), said("It opened in June.", other)
    assert is_same_thing(one, two) is same is is_same_thing(two, one)


@pytest.mark.parametrize(
    ("statement", "other", "same"),
    [
        (
            "Ada Quill (born 3 May 1901) was a Norse glazier.",
            "Ada Quill (born 3 May 1901) was a Norse diver.",
            True,
        ),
        (
            "Ada Quill (born 3 May 1901) was a Norse glazier.",
            "Ada Quill (born 4 May 1901) was a Norse diver.",
            False,
        ),
        ("Ada Quill (born 1901) was a Norse glazier.", "Ada Quill (born 1901) was a Norse diver.", False),
        (
            "Ada Quill (born 3 May 1901) was a Norse glazier.",
            "Ada Quill sold 40 lamps to a school on 3 May 1901.",
            False,
        ),
    ],
)
def test_a_name_with_a_day_in_common_stands_above_titles(statement: str, other: str, same: bool):
    one, two = said(statement, "Ada Quill (glazier)"), said(other, "Ada Quill (diver)")
    assert is_same_thing(one, two) is same is is_same_thing(two, one)


def test_the_name_that_opens_a_sentence_stands_above_the_title():
    one = said("Nordvik Dairy opened in 1921.", "Dairies of the county")
    assert is_same_thing(one, said("The dairy opened in 1923.", "Nordvik Dairy"))
    assert not is_same_thing(one, said("Skarvik Dairy opened in 1923.", "Dairies of the county"))


def test_a_given_subject_stands_above_both():
    one = said("It opened in 1921.", "Old halls", subject="Grand Hall", attribute="opening")
    two = said("It opened in 1923.", "Old halls", subject="Town Hall", attribute="opening")
    assert not is_same_thing(one, two)
    assert is_same_thing(one, two.replace(subject="the Grand Hall of Vik"))


@pytest.mark.parametrize(
    ("statement", "other", "same"),
    [
        ("The mills of Selm, unlike those of Orrin, are 40.", "The mills of Orrin, unlike those of Selm, are 12.", False),
        ("Selm has more mills than Orrin: 12.", "Orrin has fewer mills than Selm: 9.", False),
        ("Ada Berg founded the Nordvik dairy in 1921.", "Nordvik dairy was founded in 1923 by Ada Berg.", True),
        ("Selm has 12 mills, more than Orrin.", "Selm has 9 mills, fewer than Orrin.", True),
    ],
)  # fmt: skip
def test_names_that_change_places_tell_two_things_apart(statement: str, other: str, same: bool):
    assert is_same_thing(said(statement), said(other)) is same
