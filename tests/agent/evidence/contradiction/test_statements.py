"""Two statements against each other: symmetric, told with the values as written."""

from __future__ import annotations

import itertools

from agent.evidence.contradiction import (
    StatementFeatures,
    extract_features,
    find_contradiction,
    is_same_value,
)
from tests.tables import by_table

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


@by_table
def test_the_same_value_in_other_words(kind, one, other, same):
    assert is_same_value(kind, one, other) is same is is_same_value(kind, other, one)
