"""Copies and near-copies."""

from __future__ import annotations

import json
from pathlib import Path

from agent.flows.collect.items import compute_shingles, is_copy, measure_containment

DEMO = [
    json.loads(line)
    for line in (Path(__file__).parents[3] / "demo" / "docs.jsonl").read_text(encoding="utf-8").splitlines()
]
STORY = " ".join(f"word{n} of the story that is told here" for n in range(60))


def test_a_text_with_small_changes_is_a_copy() -> None:
    changed = "A new headline. " + STORY.replace("word7 of", "word7, out of") + " First published elsewhere."
    assert is_copy(compute_shingles(STORY), compute_shingles(changed)) and is_copy(
        compute_shingles(changed), compute_shingles(STORY)
    )


def test_a_piece_of_a_text_and_another_story_are_none() -> None:
    assert not is_copy(compute_shingles(STORY), compute_shingles(STORY[: len(STORY) // 6]))
    assert (
        measure_containment(
            compute_shingles(STORY), compute_shingles(STORY.replace("story", "tale").replace("told", "sung"))
        )
        < 0.1
    )


def test_short_texts_are_copies_only_when_equal() -> None:
    assert is_copy(compute_shingles("Thank you!"), compute_shingles("thank you")) and not is_copy(
        compute_shingles("Thank you!"), compute_shingles("Thank you all!")
    )
    assert (
        not is_copy(compute_shingles(""), compute_shingles("Something"))
        and measure_containment(frozenset(), frozenset()) == 0
    )


def test_in_the_demo_world_exactly_one_pair_is_a_copy() -> None:
    marks = [(doc["id"], compute_shingles(doc["text"])) for doc in DEMO if len(doc["text"]) > 100]
    pairs = [(a, b) for n, (a, one) in enumerate(marks) for b, other in marks[n + 1 :] if is_copy(one, other)]
    assert pairs == [("cou-factory", "brief-factory")]
