"""Titles and subjects tell two things apart; a page without either does not."""

from __future__ import annotations

from agent.evidence.contradiction import is_same_thing
from agent.types import Fact
from tests.tables import by_table


def said(statement: str, title: str = "", **more: str) -> Fact:
    return Fact(id=f"{statement}{title}", statement=statement, quote=statement, title=title, **more)


@by_table
def test_titles_tell_namesakes_apart(title: str, other: str, same: bool):
    one, two = said("It opened in May.", title), said("It opened in June.", other)
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
