"""The one scorer: BM25F over a passage's text and what stands over it (title, heading path, label).

A question's words are its content stems (`agent.text.tokens`), without addresses. Each word adds its inverse
document frequency times the saturated count of its occurrences (0..1); divided by the sum of the frequencies,
a score is the share of the question's weight that a passage has: 0 none, 1 every word, again and again. The
full-text index computes the same counts for stored passages (`agent.store.fulltext`). Knows words, no run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log

from agent.store.fulltext import HEAD_WEIGHT, K1, B
from agent.text.question_analysis import strip_question
from agent.text.tokens import content_stems, stem, stem_words
from agent.text.word_lists import COMMON_WORDS
from agent.types import Passage

MAX_TERMS = 48
"""Words of a question that are searched, the first ones."""
REFERENCE_PASSAGES = 2000
"""The size that collections are counted as, so that thresholds mean the same in all."""
COMMON_WORD_SHARE = 0.05
"""The share of passages that a common English word is taken to be in at least, however small the
collection."""
_COMMON_STEMS = frozenset(stem(word) for word in COMMON_WORDS)


@dataclass(frozen=True)
class CollectionCounts:
    """How many passages a collection has, how many of them hold each word (a stem), and the mean number of
    words of one (0: unknown)."""

    passages: int
    document_frequencies: Mapping[str, int]
    mean_words: float = 0.0


UNCOUNTED = CollectionCounts(0, {})
"""A collection of which nothing is known, as the web of which a run read some pages."""


class CountedPassages(list[Passage]):
    """Passages of a collection, with how many of all its passages hold the words they are asked for."""

    def __init__(self, passages: Iterable[Passage], counts: CollectionCounts) -> None:
        super().__init__(passages)
        self.counts = counts


def question_terms(question: str) -> list[str]:
    """The stems that a question is searched by."""
    return content_stems(strip_question(question))[:MAX_TERMS]


def rank_passages(
    question: str, passages: Sequence[Passage], k: int, counts: CollectionCounts | None = None
) -> list[Passage]:
    """The `k` passages with the best scores (0..1), best first; in the order given where scores are equal.
    Words are counted over these passages, or over the collection of `counts`."""
    terms = question_terms(question)
    texts = [stem_words(passage.text) for passage in passages]
    heads = [stem_words(join_head(passage)) for passage in passages]
    lengths = [len(text) + len(head) for text, head in zip(texts, heads, strict=True)]
    mean = (counts.mean_words if counts else 0) or sum(lengths) / max(1, len(lengths)) or 1.0
    held: dict[str, dict[int, float]] = {term: {} for term in terms}
    for n, (text, head) in enumerate(zip(texts, heads, strict=True)):
        found = Counter(word for word in text if word in held)
        above = Counter(word for word in head if word in held)
        for word in found.keys() | above.keys():
            held[word][n] = saturate(found[word], above[word], lengths[n] / mean)
    counts = counts or CollectionCounts(len(passages), {term: len(rows) for term, rows in held.items()})
    scores = sum_scores(held, counts)
    scored = [passage.replace(score=round(scores.get(n, 0.0), 4)) for n, passage in enumerate(passages)]
    return sorted(scored, key=lambda passage: -passage.score)[:k]


def count_words(stems: Collection[str], passages: Sequence[Passage]) -> Counter[str]:
    """How many of the passages hold each of these words (stems)."""
    held: Counter[str] = Counter()
    for passage in passages:
        held.update(set(stem_words(f"{join_head(passage)}\n{passage.text}")).intersection(stems))
    return held


def join_head(passage: Passage) -> str:
    """What stands over a passage: the page's title, the heading path, the label."""
    return f"{passage.title}\n{passage.heading}\n{passage.label}"


def saturate(in_text: int, in_head: int, length: float) -> float:
    """The saturated count (0..1) of a word's occurrences in a passage of this length, as a share of the mean
    length."""
    found = in_text + HEAD_WEIGHT * in_head
    return found / (found + K1 * (1 - B + B * length))


def sum_scores(held: Mapping[str, Mapping[int, float]], counts: CollectionCounts) -> dict[int, float]:
    """The score (0..1) of everything that holds one of the words, from each word's saturated counts."""
    weights = weigh_words(held, counts)
    total = sum(weights.values()) or 1.0
    scores: dict[int, float] = {}
    for word, rows in held.items():
        for row, share in rows.items():
            scores[row] = scores.get(row, 0.0) + weights[word] * share / total
    return scores


def weigh_words(words: Collection[str], counts: CollectionCounts) -> dict[str, float]:
    """Each word's inverse document frequency; where nothing is counted (`UNCOUNTED`), that of a common or of
    any other English word."""
    if not counts.passages:
        return compute_idf(words, counts)
    return {word: robertson_idf(counts.passages, counts.document_frequencies.get(word, 0)) for word in words}


def compute_idf(words: Collection[str], counts: CollectionCounts) -> dict[str, float]:
    """Each word's inverse document frequency in a collection of `REFERENCE_PASSAGES`; always above 0."""
    scale = min(1.0, REFERENCE_PASSAGES / max(1, counts.passages))
    found: dict[str, float] = {}
    for word in words:
        least = COMMON_WORD_SHARE * REFERENCE_PASSAGES if word in _COMMON_STEMS else 0
        held = min(REFERENCE_PASSAGES, max(least, counts.document_frequencies.get(word, 0) * scale))
        found[word] = log(1 + (REFERENCE_PASSAGES - held + 0.5) / (held + 0.5))
    return found


def robertson_idf(passages: int, holding: int) -> float:
    """The inverse document frequency of Robertson and Spärck Jones, in the form that is never negative
    (Lucene's)."""
    return log(1 + (max(passages, holding) - holding + 0.5) / (holding + 0.5))
