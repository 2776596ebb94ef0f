"""How much a word says: rare ones more, and the same in a library of any size."""

from __future__ import annotations

from collections import Counter

import pytest

from agent.text.question import read
from agent.text.rarity import ASIDE, REFERENCE, Counts, bm25, held, rarity, rough_weights


def test_rare_words_weigh_more_and_all_weigh_something() -> None:
    weights = rarity(["rare", "usual", "everywhere", "zebu"], Counts(REFERENCE, {"rare": 1, "usual": 200, "everywhere": REFERENCE}))
    assert weights["zebu"] > weights["rare"] > weights["usual"] > weights["everywhere"] > 0


def test_a_larger_library_is_scaled_to_the_same_measure() -> None:
    small = rarity(["a", "b"], Counts(REFERENCE, {"a": 4, "b": 400}))
    large = rarity(["a", "b"], Counts(50 * REFERENCE, {"a": 200, "b": 20_000}))
    assert large == pytest.approx(small)


def test_a_word_common_in_english_is_common_in_a_small_library_too() -> None:
    weights = rarity(["new", "heron"], Counts(20, {"new": 1, "heron": 1}))
    assert weights["new"] < weights["heron"] / 2


def test_an_empty_library_and_no_words_are_no_error() -> None:
    assert rarity([], Counts(0, {})) == {} and rarity(["x"], Counts(0, {}))["x"] > 0
    assert held({}, set()) == 0.0 and bm25({}, Counter(), 0) == 0.0


def test_bm25_grows_with_the_count_and_shrinks_with_the_length() -> None:
    weights = {"heron": 2.0}
    one, two = bm25(weights, Counter(heron=1), 600), bm25(weights, Counter(heron=2), 600)
    assert 0 < one < two < 2 * one and bm25(weights, Counter(heron=1), 6000) < one
    assert one == pytest.approx(2.0), "once in a text of the usual length"


def test_the_share_held_counts_what_stands_around_a_little_less() -> None:
    weights = rough_weights(read("heron nests"), {"heron": 3.0, "nest": 1.0})
    assert held(weights, {"heron", "nest"}) == pytest.approx(1.0)
    assert held(weights, {"nest"}, {"heron"}) == pytest.approx(0.25 + 0.75 * ASIDE) and held(weights, set()) == 0.0
