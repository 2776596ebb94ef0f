"""Scores passages by the question's words they hold: BM25 over the passages at hand, and the share of the
question's weight that a passage covers.

Both are between 0 and 1, so that passages of different pages and collections can be compared. Knows words, no
run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import log

from agent.text.question_analysis import parse_question
from agent.text.tokens import stem, stem_prefix, stem_words
from agent.text.word_lists import COMMON_WORDS
from agent.types import Passage

K1, B = 1.2, 0.6
HEADING_WEIGHT = 0.3
"""The least a word counts that is in the heading or title, of the 1 that BM25 gives at most."""
TITLE_WEIGHT = 0.8
"""The share a word counts for coverage that is only in the title or heading."""
MIN_IDF = 0.3
REFERENCE_PASSAGES = 2000
"""The collection size that every collection is scaled down to, so that thresholds mean the same in all."""
COMMON_WORD_SHARE = 0.05
"""The share of passages that a common English word is taken to be in at least, however small the
collection."""
_COMMON_STEMS = frozenset(stem(word) for word in COMMON_WORDS)


@dataclass(frozen=True)
class CollectionCounts:
    """How many passages a collection has, and how many of them hold each word (a stem)."""

    passages: int
    document_frequencies: Mapping[str, int]


def rank_passages(question: str, passages: Sequence[Passage], k: int) -> list[Passage]:
    """The `k` passages with the best BM25 scores (0..1), best first; in the order of the text when all are 0.
    A word's idf is taken over these passages."""
    wanted = parse_question(question).weights
    bags = [Counter(word for word in stem_words(passage.text) if word in wanted) for passage in passages]
    seen = Counter(word for bag in bags for word in bag)
    weights = {word: weight * _idf(len(bags), seen[word]) for word, weight in wanted.items()}
    mean = sum(len(passage.text) for passage in passages) / max(1, len(passages)) or 1.0
    scored = [
        passage.replace(score=round(_score(weights, bag, passage, mean), 4))
        for bag, passage in zip(bags, passages, strict=True)
    ]
    return sorted(scored, key=lambda passage: -passage.score)[:k]


def _idf(passages: int, holding: int) -> float:
    return MIN_IDF + log(1 + (passages - holding + 0.5) / (holding + 0.5))


def _score(weights: Mapping[str, float], bag: Counter[str], passage: Passage, mean: float) -> float:
    around = set(stem_words(f"{passage.title} {passage.heading}"))
    norm = K1 * (1 - B + B * len(passage.text) / mean)
    got = sum(
        weight * max(bag[word] / (bag[word] + norm), HEADING_WEIGHT * (word in around))
        for word, weight in weights.items()
    )
    return got / (sum(weights.values()) or 1.0)


def score_question_coverage(
    question: str, passages: Sequence[Passage], counts: CollectionCounts
) -> list[Passage]:
    """The passages, each with the share (0..1) of the question's idf weight that it holds as its score."""
    weights: dict[str, float] = {}
    for word, weight in compute_idf(list(parse_question(question).weights), counts).items():
        weights[stem_prefix(word)] = max(weight, weights.get(stem_prefix(word), 0.0))
    return [passage.replace(score=round(_covered_share(weights, passage), 4)) for passage in passages]


def compute_idf(words: Collection[str], counts: CollectionCounts) -> dict[str, float]:
    """Each word's inverse document frequency in a collection of `REFERENCE_PASSAGES`; always above 0."""
    scale = min(1.0, REFERENCE_PASSAGES / max(1, counts.passages))
    found: dict[str, float] = {}
    for word in words:
        least = COMMON_WORD_SHARE * REFERENCE_PASSAGES if word in _COMMON_STEMS else 0
        held = min(REFERENCE_PASSAGES, max(least, counts.document_frequencies.get(word, 0) * scale))
        found[word] = log(1 + (REFERENCE_PASSAGES - held + 0.5) / (held + 0.5))
    return found


def _covered_share(weights: Mapping[str, float], passage: Passage) -> float:
    here, around = (
        {stem_prefix(word) for word in stem_words(text)}
        for text in (passage.text, f"{passage.title} {passage.heading}")
    )
    got = sum(
        weight * (1.0 if word in here else TITLE_WEIGHT if word in around else 0.0)
        for word, weight in weights.items()
    )
    return got / (sum(weights.values()) or 1.0)
