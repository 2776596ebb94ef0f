"""How much a word says: rare ones more, and the same in a library of any size."""

from __future__ import annotations

from collections import Counter

import pytest

from agent.retrieval.term_rarity import (
    REFERENCE_PASSAGES,
    TITLE_WEIGHT,
    CollectionCounts,
    compute_idf,
    covered_weight_share,
    group_weights_by_prefix,
    score_bm25,
)
from agent.text.question_analysis import parse_question


def test_rare_words_weigh_more_and_all_weigh_something() -> None:
    weights = compute_idf(
        ["rare", "usual", "everywhere", "zebu"],
        CollectionCounts(REFERENCE_PASSAGES, {"rare": 1, "usual": 200, "everywhere": REFERENCE_PASSAGES}),
    )
    assert weights["zebu"] > weights["rare"] > weights["usual"] > weights["everywhere"] > 0


def test_a_larger_library_is_scaled_to_the_same_measure() -> None:
    small = compute_idf(["a", "b"], CollectionCounts(REFERENCE_PASSAGES, {"a": 4, "b": 400}))
    large = compute_idf(["a", "b"], CollectionCounts(50 * REFERENCE_PASSAGES, {"a": 200, "b": 20_000}))
    assert large == pytest.approx(small)


def test_a_word_common_in_english_is_common_in_a_small_library_too() -> None:
    weights = compute_idf(["new", "heron"], CollectionCounts(20, {"new": 1, "heron": 1}))
    assert weights["new"] < weights["heron"] / 2


def test_an_empty_library_and_no_words_are_no_error() -> None:
    assert (
        compute_idf([], CollectionCounts(0, {})) == {}
        and compute_idf(["x"], CollectionCounts(0, {}))["x"] > 0
    )
    assert covered_weight_share({}, set()) == 0.0 and score_bm25({}, Counter(), 0) == 0.0


def test_bm25_grows_with_the_count_and_shrinks_with_the_length() -> None:
    weights = {"heron": 2.0}
    one, two = score_bm25(weights, Counter(heron=1), 600), score_bm25(weights, Counter(heron=2), 600)
    assert 0 < one < two < 2 * one and score_bm25(weights, Counter(heron=1), 6000) < one
    assert one == pytest.approx(2.0), "once in a text of the usual length"


def test_the_share_held_counts_what_stands_around_a_little_less() -> None:
    weights = group_weights_by_prefix(parse_question("heron nests"), {"heron": 3.0, "nest": 1.0})
    assert covered_weight_share(weights, {"heron", "nest"}) == pytest.approx(1.0)
    assert (
        covered_weight_share(weights, {"nest"}, {"heron"}) == pytest.approx(0.25 + 0.75 * TITLE_WEIGHT)
        and covered_weight_share(weights, set()) == 0.0
    )
