"""The one scorer: BM25F over a passage's text and what stands over it (title, heading path, label).

A question's words are its content stems (`agent.text.tokens`), without addresses. Each word adds its inverse
document frequency times the saturated count of its occurrences (0..1); divided by the sum of the frequencies,
a score is the share of the question's weight that a passage has: 0 none, 1 every word, again and again. The
full-text index computes the same counts for stored passages (`agent.store.fulltext`). Knows words, no
run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import TypeVar

from agent.store.fulltext import HEAD_WEIGHT, K1, B
from agent.text.question_analysis import strip_question
from agent.text.tokens import content_stems, stem, stem_prefix, stem_prefixes, stem_words
from agent.text.word_lists import COMMON_WORDS
from agent.types import Fact, Passage

MAX_TERMS = 48
"""Words of a question that are searched, the first ones."""
REFERENCE_PASSAGES = 2000
"""The size that collections are counted as, so that thresholds mean the same in all."""
RRF_K = 60
"""Reciprocal rank fusion as Cormack, Clarke and Büttcher gave it (SIGIR 2009), with their constant."""
TITLE_WEIGHT = 0.5
"""What a question's word counts that is only in the title of the quoted page: subject, not statement."""
COMMON_WORD_SHARE = 0.05
"""The least share of passages that a common English word is taken to be in, in small collections too."""
_COMMON_STEMS = frozenset(stem(word) for word in COMMON_WORDS)


@dataclass(frozen=True)
class CollectionCounts:
    """How many passages a collection has, and how many of them hold each word (a stem)."""

    passages: int
    document_frequencies: Mapping[str, int]


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
    texts = [stem_words(passage.text) for passage in passages]
    heads = [stem_words(join_head(passage)) for passage in passages]
    scores = score_texts(question_terms(question), texts, heads, counts)
    scored = [passage.replace(score=score) for passage, score in zip(passages, scores, strict=True)]
    return sorted(scored, key=lambda passage: -passage.score)[:k]


def score_texts(
    terms: Sequence[str],
    texts: Sequence[Sequence[str]],
    heads: Sequence[Sequence[str]],
    counts: CollectionCounts | None = None,
) -> list[float]:
    """The score (0..1) of each text with what stands over it, both as stems."""
    lengths = [len(text) + len(head) for text, head in zip(texts, heads, strict=True)]
    mean = sum(lengths) / max(1, len(lengths)) or 1.0
    held: dict[str, dict[int, float]] = {term: {} for term in terms}
    for n, (text, head) in enumerate(zip(texts, heads, strict=True)):
        found = Counter(word for word in text if word in held)
        above = Counter(word for word in head if word in held)
        for word in found.keys() | above.keys():
            count = found[word] + HEAD_WEIGHT * above[word]
            held[word][n] = count / (count + K1 * (1 - B + B * lengths[n] / mean))
    counts = counts or CollectionCounts(len(texts), {term: len(rows) for term, rows in held.items()})
    scores = sum_scores(held, counts)
    return [round(scores.get(n, 0.0), 4) for n in range(len(texts))]


def count_words(stems: Collection[str], passages: Sequence[Passage]) -> Counter[str]:
    """How many of the passages hold each of these words (stems)."""
    held: Counter[str] = Counter()
    for passage in passages:
        held.update(set(stem_words(f"{join_head(passage)}\n{passage.text}")).intersection(stems))
    return held


def join_head(passage: Passage) -> str:
    """What stands over a passage: the page's title, the heading path, the label."""
    return f"{passage.title}\n{passage.heading}\n{passage.label}"


def sum_scores(held: Mapping[str, Mapping[int, float]], counts: CollectionCounts) -> dict[int, float]:
    """The score (0..1) of everything that holds one of the words, from each word's saturated counts, weighed
    by its inverse document frequency; where nothing is counted (`UNCOUNTED`), by that of a common or of any
    other English word."""
    if counts.passages:  # by Robertson and Spärck Jones, in the form that is never negative (Lucene's)
        holding = {word: counts.document_frequencies.get(word, 0) for word in held}
        weights = {
            word: log(1 + (max(counts.passages, n) - n + 0.5) / (n + 0.5)) for word, n in holding.items()
        }
    else:
        weights = compute_idf(held, counts)
    total = sum(weights.values()) or 1.0
    scores: dict[int, float] = {}
    for word, rows in held.items():
        for row, share in rows.items():
            scores[row] = scores.get(row, 0.0) + weights[word] * share / total
    return scores


def compute_idf(words: Collection[str], counts: CollectionCounts) -> dict[str, float]:
    """Each word's inverse document frequency in a collection of `REFERENCE_PASSAGES`; always above 0."""
    scale = min(1.0, REFERENCE_PASSAGES / max(1, counts.passages))
    found: dict[str, float] = {}
    for word in words:
        least = COMMON_WORD_SHARE * REFERENCE_PASSAGES if word in _COMMON_STEMS else 0
        held = min(REFERENCE_PASSAGES, max(least, counts.document_frequencies.get(word, 0) * scale))
        found[word] = log(1 + (REFERENCE_PASSAGES - held + 0.5) / (held + 0.5))
    return found


T = TypeVar("T", bound=Hashable)


def fuse_rankings(rankings: Sequence[Sequence[T]]) -> list[tuple[T, float]]:
    """Several rankings of the same things made into one, by their ranks alone: everything any of them holds,
    best first, with the sum of 1 / (K + rank) over the rankings that hold it (the first rank is 1)."""
    scores: dict[T, float] = {}
    for ranking in rankings:
        for rank, thing in enumerate(ranking, start=1):
            scores[thing] = scores.get(thing, 0.0) + 1 / (RRF_K + rank)
    return sorted(scores.items(), key=lambda entry: -entry[1])


def covered_share(weights: Mapping[str, float], text: str, title: str = "") -> float:
    """The share of a question's weight that a text covers, words of its title counting less."""
    here, around = stem_prefixes(text), stem_prefixes(title)
    held = (w * (1.0 if word in here else TITLE_WEIGHT * (word in around)) for word, w in weights.items())
    return sum(held) / (sum(weights.values()) or 1.0)


def weigh_words(question: str, counts: CollectionCounts = UNCOUNTED) -> dict[str, float]:
    """The question's words by their stem prefixes, each with its inverse document frequency in a collection:
    no list says which words matter, but that common English ones matter less."""
    weights: dict[str, float] = {}
    for word, idf in compute_idf(content_stems(strip_question(question) or question), counts).items():
        weights[stem_prefix(word)] = max(idf, weights.get(stem_prefix(word), 0.0))
    return weights


def score_fact(question: str, fact: Fact) -> float:
    """The relevance of a fact (0..1)."""
    return round(covered_share(weigh_words(question), fact.quote, fact.title), 4)
