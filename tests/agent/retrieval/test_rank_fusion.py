"""Rankings merged by their ranks."""

from __future__ import annotations

from agent.retrieval.scorer import fuse_rankings


def test_what_both_rankings_hold_comes_before_what_one_holds():
    assert [thing for thing, _ in fuse_rankings([["a", "b", "c"], ["d", "b", "e"]])] == [
        "b",
        "a",
        "d",
        "c",
        "e",
    ]
    assert dict(fuse_rankings([["a", "b"], ["b"]])) == {"a": 1 / 61, "b": 1 / 62 + 1 / 61}


def test_one_ranking_stays_as_it_is_and_none_is_none():
    assert [thing for thing, _ in fuse_rankings([["b", "a"], []])] == ["b", "a"] and fuse_rankings([]) == []
