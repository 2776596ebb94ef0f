"""How much a word says, by how few passages of a collection hold it, and how much of a question a text holds
by that measure.

The measure must mean the same in a library of fifty passages and in one of a hundred thousand, for thresholds
hang on it. So every collection is counted as if it had REFERENCE passages: in a larger one the counts are
scaled down; in a smaller one they stand, and words that are common in English count as common although few
passages hold them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import log

from agent.text.question_analysis import ParsedQuestion
from agent.text.tokens import stem, stem_prefix
from agent.text.word_lists import COMMON_WORDS

REFERENCE_PASSAGES = 2000
"""Passages a collection is counted as having."""
COMMON_WORD_SHARE = 0.05
"""The share of passages that a word common in English is taken to stand in at least."""
K1, B = 1.2, 0.75
"""BM25's usual constants (Robertson and Zaragoza 2009, The Probabilistic Relevance Framework)."""
AVERAGE_CHARS = 600.0
"""Characters of a usual passage."""
TITLE_WEIGHT = 0.8
"""What a word counts that stands only around a text."""
_COMMON_STEMS = frozenset(stem(word) for word in COMMON_WORDS)


@dataclass(frozen=True)
class CollectionCounts:
    """A collection in numbers: how many passages it has, and how many of them hold each word (a stem)."""

    passages: int
    document_frequencies: Mapping[str, int]


def compute_idf(words: Sequence[str], counts: CollectionCounts) -> dict[str, float]:
    """Each word's inverse document frequency in the collection, as if that had REFERENCE passages; always
    above 0."""
    scale = min(1.0, REFERENCE_PASSAGES / max(1, counts.passages))
    found: dict[str, float] = {}
    for word in words:
        held = counts.document_frequencies.get(word, 0) * scale
        held = min(
            REFERENCE_PASSAGES,
            max(held, COMMON_WORD_SHARE * REFERENCE_PASSAGES) if word in _COMMON_STEMS else held,
        )
        found[word] = log(1 + (REFERENCE_PASSAGES - held + 0.5) / (held + 0.5))
    return found


def score_bm25(
    weights: Mapping[str, float], bag: Counter[str], length: int, *, usual: float = AVERAGE_CHARS
) -> float:
    """What a text of `length` characters with this bag of stems scores for the weighted words."""
    norm = K1 * (1 - B + B * length / usual)
    return sum(
        weight * bag[word] * (K1 + 1) / (bag[word] + norm) for word, weight in weights.items() if bag[word]
    )


def group_weights_by_prefix(asked: ParsedQuestion, weights: Mapping[str, float]) -> dict[str, float]:
    """The weights by the first letters of the stems, so that kindred words count as one."""
    found: dict[str, float] = {}
    for word in asked.weights:
        found[stem_prefix(word)] = max(weights.get(word, 0.0), found.get(stem_prefix(word), 0.0))
    return found


def covered_weight_share(
    weights: Mapping[str, float], here: Collection[str], around: Collection[str] = ()
) -> float:
    """The share of the (rough) weights whose words stand here; what stands only around (a title) counts ASIDE
    of it."""
    got = sum(
        weight * (1.0 if word in here else TITLE_WEIGHT if word in around else 0.0)
        for word, weight in weights.items()
    )
    return got / (sum(weights.values()) or 1.0)
