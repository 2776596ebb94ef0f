"""Near-duplicate texts, by containment of word 5-grams (Broder's resemblance, of the smaller set).

A text with its ending cut, a line added or the byline changed is still the same text; two reports of one
event in their writers' own words are not."""

from __future__ import annotations

from agent.text.tokens import tokenize

SHINGLE_WORDS = 5
"""Words of one shingle."""
MIN_COPY_CONTAINMENT = 0.6
"""Containment from which a text counts as a copy. Rewritten reports of one event lie below .1, agency texts
with another headline above .7."""
MIN_SHINGLES = 12
"""Shingles a text must have to be compared this way; shorter texts are copies only when they are equal."""
MIN_SIZE_RATIO = 0.25
"""A text that is a small piece of another one (a quoted post, a teaser) is no copy of it."""


def compute_shingles(text: str) -> frozenset[int]:
    """The text's shingles as numbers; of a shorter text, one for all of it."""
    words = tokenize(text)
    if len(words) < SHINGLE_WORDS + MIN_SHINGLES - 1:
        return frozenset((hash(tuple(words)),))
    return frozenset(hash(tuple(words[i : i + SHINGLE_WORDS])) for i in range(len(words) - SHINGLE_WORDS + 1))


def measure_containment(one: frozenset[int], other: frozenset[int]) -> float:
    """The share of the smaller set that is in the larger (0 to 1); 0 when one is only a piece."""
    if not one or not other:
        return 0.0
    small, large = sorted((one, other), key=len)
    return 0.0 if len(small) < MIN_SIZE_RATIO * len(large) else len(small & large) / len(small)


def is_copy(one: frozenset[int], other: frozenset[int]) -> bool:
    """Are two texts the same but for small changes?"""
    return measure_containment(one, other) >= MIN_COPY_CONTAINMENT
