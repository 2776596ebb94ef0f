"""Two statements against each other: symmetric, told with the values as written."""

from __future__ import annotations

import itertools

import pytest

from agent.evidence.contradiction import (
    dice_similarity,
    find_contradiction,
    is_same_value,
)
from agent.evidence.statement_features import StatementFeatures, extract_features

STATEMENTS = (
    "The bridge at Stenfors is 120 metres long.",
    "The bridge at Stenfors is 140 metres long.",
    "The bridge at Stenfors was opened on 2 May 2019.",
    "The bridge at Stenfors was opened on 9 June 2021.",
    "The dairy of Lövnäs employs 41 people.",
)


def told(text: str) -> StatementFeatures:
    return extract_features(text)


def found(one: str, other: str, *, keyed: bool = False) -> tuple[str, str, str] | None:
    clashed = find_contradiction(told(one), told(other), keyed=keyed)
    return (clashed.kind, clashed.left, clashed.right) if clashed else None


def test_order_does_not_matter():
    for one, other in itertools.combinations(STATEMENTS, 2):
        there, back = found(one, other), found(other, one)
        assert (there is None) == (back is None), (one, other)
        assert there is None or there == (back[0], back[2], back[1])


def test_nothing_contradicts_itself():
    assert not [text for text in STATEMENTS if found(text, text) or found(text, text, keyed=True)]


def test_values_are_told_as_written():
    assert found(STATEMENTS[0], STATEMENTS[1]) == ("number", "120 metres", "140 metres")
    assert found(STATEMENTS[2], STATEMENTS[3]) == ("date", "2 May 2019", "9 June 2021")
    assert found(STATEMENTS[0], STATEMENTS[4]) is None


def test_figures_of_different_times_are_a_series():
    one, other = "In 2019 the dairy employed 41 people.", "In 2021 the dairy employed 55 people."
    assert found(one, other) is None


@pytest.mark.parametrize(
    ("kind", "one", "other", "same"),
    [
        ("number", "1,200 m", "1.2 km", True),
        ("number", "about 40", "41", True),
        ("number", "40 kg", "45 kg", False),
        ("date", "May 2019", "2 May 2019", True),
        ("date", "2019", "2021", False),
        ("name", "Ada Quill", "Quill", True),
        ("name", "Ada Quill", "Bo Quill", False),
        ("polarity", "denied", "affirmed", False),
        ("polarity", "denied", "denied", True),
    ],
)
def test_the_same_value_in_other_words(kind, one, other, same):
    assert is_same_value(kind, one, other) is same is is_same_value(kind, other, one)


def test_likeness_is_dices():
    assert (
        dice_similarity(frozenset("abc"), frozenset("bcd")) == pytest.approx(2 / 3)
        and dice_similarity(frozenset(), frozenset()) == 0
    )
