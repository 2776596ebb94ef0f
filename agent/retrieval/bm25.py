"""Which passages bear on a question: BM25 over the passages at hand, their headings and titles included.

The score is made absolute (the share of the question's weight a passage covers, sharpened by BM25's sense of
how densely), so that passages of different pages can be compared: 1 would say it all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import log

from agent.text.question_analysis import ParsedQuestion, parse_question
from agent.text.tokens import stem_words
from agent.types import Passage

K1, B = 1.2, 0.6
HEADING_WEIGHT = 0.6
"""What a word counts that stands only in the heading or title, against one in the text."""


def rank_passages(question: str, passages: Sequence[Passage], k: int) -> list[Passage]:
    """The `k` passages that bear most on the question, best first, with their scores; in the order of the
    text when all are 0."""
    asked = parse_question(question)
    bags = [
        Counter(word for word in stem_words(passage.text) if word in asked.weights) for passage in passages
    ]
    weights = _idf_weights(asked, bags)
    mean = sum(len(passage.text) for passage in passages) / max(1, len(passages)) or 1.0
    scored = [
        (_score(weights, bag, passage, mean), -n, passage)
        for n, (bag, passage) in enumerate(zip(bags, passages, strict=True))
    ]
    best = sorted(scored, key=lambda entry: (-entry[0], -entry[1]))[:k]
    return [passage.model_copy(update={"score": round(score, 4)}) for score, _, passage in best]


def _idf_weights(asked: ParsedQuestion, bags: list[Counter[str]]) -> dict[str, float]:
    """The question's weights, less for words that stand in most passages of this page: they do not tell them
    apart."""
    n = len(bags)
    seen = Counter(word for bag in bags for word in bag)
    return {
        word: weight * (0.3 + log(1 + (n - seen[word] + 0.5) / (seen[word] + 0.5)))
        for word, weight in asked.weights.items()
    }


def _score(weights: dict[str, float], bag: Counter[str], passage: Passage, mean: float) -> float:
    around = set(stem_words(f"{passage.title} {passage.heading}"))
    norm = K1 * (1 - B + B * len(passage.text) / mean)
    got = 0.0
    for word, weight in weights.items():
        tf = bag[word]
        got += weight * max(
            tf * (K1 + 1) / (tf + norm) / (K1 + 1) if tf else 0.0,
            HEADING_WEIGHT * 0.5 if word in around else 0.0,
        )
    return got / (sum(weights.values()) or 1.0)
