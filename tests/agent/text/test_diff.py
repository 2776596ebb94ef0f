"""Two texts side by side: nothing is lost, what differs is marked and nothing else, and a megabyte takes a
moment."""

from __future__ import annotations

import random

import pytest

from agent.text.diff import DiffPart, diff_texts


def sides(found: list[DiffPart]) -> tuple[str, str]:
    """The words of both texts, put together again."""
    old = " ".join("".join(text for text, _ in part.old) for part in found if part.old)
    new = " ".join(
        "".join(text for text, _ in (part.old if part.kind == "same" else part.new))
        for part in found
        if part.kind != "removed"
    )
    return " ".join(old.split()), " ".join(new.split())


def marked(found: list[DiffPart]) -> tuple[list[str], list[str]]:
    """The words that only the old and only the new text has."""
    return [t for p in found for t, only in p.old if only], [t for p in found for t, only in p.new if only]


def test_a_changed_word_is_marked_alone():
    found = diff_texts("One.\nThe dairy has 31 people.\nLast.", "One.\nThe dairy has 34 people.\nLast.")
    assert [part.kind for part in found] == ["same", "changed", "same"]
    assert marked(found) == (["31"], ["34"])


def test_lines_that_went_and_came_are_told():
    found = diff_texts("a\nb\nc\nd", "a\nc\nd\ne")
    assert [(part.kind, part.lines) for part in found] == [
        ("same", 1),
        ("removed", 1),
        ("same", 2),
        ("added", 1),
    ]
    assert marked(found) == (["b"], ["e"])


def test_a_long_paragraph_is_compared_by_its_sentences():
    sentences = [f"Sentence number {n} tells of the cows of farm {n}." for n in range(20)]
    other = [*sentences[:10], "This one is new.", *sentences[11:]]
    found = diff_texts(" ".join(sentences), " ".join(other))
    assert [part.kind for part in found] == ["same", "changed", "same"] and found[0].lines == 10


@pytest.mark.parametrize("seed", range(40))
def test_nothing_is_lost_on_either_side(seed):
    rng = random.Random(seed)
    old = [
        " ".join(rng.choices(["cow", "farm", "31", "–", "milk.", "Äss"], k=rng.randint(0, 7)))
        for _ in range(rng.randint(0, 12))
    ]
    new = [rng.choice([line, line + " more", ""]) for line in old if rng.random() < 0.8] + [
        "tail"
    ] * rng.randint(0, 2)
    told = sides(diff_texts("\n".join(old), "\n".join(new)))
    assert told == (" ".join(" ".join(old).split()), " ".join(" ".join(new).split()))


def test_a_megabyte_is_compared():
    lines = [
        f"Line {n} of a long page on the history of the valley and its {n % 97} farms, told by many."
        for n in range(12_000)
    ]
    other = [line if n % 400 else line.replace("valley", "island") for n, line in enumerate(lines)]
    found = diff_texts("\n".join(lines), "\n".join(other))
    assert sum(part.kind == "changed" for part in found) == 30 and set(marked(found)[1]) == {"island"}
