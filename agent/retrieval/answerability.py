"""Do these passages answer the question, or are they merely the nearest to be had? An estimate by rule, from
words alone.

A logistic regression over what can be counted: how much of the question, rare words weighing most, one
passage holds; how much its page; how well the best sentence answers; what kind of thing is asked for. Fitted
and checked out of fold by `tests/bench/answerability.py`; the figures stand in DECISIONS.md. Chat, reply and
whoever quotes passages keyless use it to refuse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log

from agent.retrieval.relevance import score_sentences
from agent.retrieval.term_rarity import (
    CollectionCounts,
    compute_idf,
    covered_weight_share,
    group_weights_by_prefix,
    score_bm25,
)
from agent.text.question_analysis import COMMON_WORD_WEIGHT, ParsedQuestion, parse_question
from agent.text.tokens import stem, stem_prefix, stem_words, tokenize
from agent.text.word_lists import load_words
from agent.types import Passage

MIN_ANSWER_PROBABILITY = 0.5
"""The least probability of an answer. The classes were weighed equally: here refusing and answering wrongly
cost the same."""
MAX_SENTENCE_PASSAGES = 3
"""Passages whose sentences are looked at."""
TITLE_WEIGHT = 2.0
"""What a word counts that stands in the title, in the score of a page."""
COEFFICIENTS = {
    "intercept": -8.25,
    "passage": 1.26,
    "page": 1.82,
    "sentence": 3.12,
    "covered": 0.87,
    "third": -0.56,
    "number": -1.02,
    "place": 0.57,
    "person": -0.44,
}


@dataclass(frozen=True)
class Answerability:
    """The estimate (0..1), the share of the question's weight that the best page holds, and the words it
    holds nowhere, as spelled."""

    probability: float
    covered: float
    missing: tuple[str, ...] = ()

    @property
    def is_answerable(self) -> bool:
        """Is it likely enough to answer?"""
        return self.probability >= MIN_ANSWER_PROBABILITY


@dataclass(frozen=True)
class PassageTerms:
    """A passage with its words counted, and its own score for the question."""

    passage: Passage
    bag: Counter[str]
    title: Counter[str]
    score: float

    @property
    def words(self) -> set[str]:
        """Its words and its title's, roughly stemmed."""
        return {stem_prefix(word) for word in (*self.bag, *self.title)}


def estimate_answer_likelihood(
    question: str, passages: Sequence[Passage], counts: CollectionCounts
) -> Answerability:
    """The estimate for a question that stands alone and the passages found for it; 0 without any."""
    asked = parse_question(question)
    if not passages or not asked.weights:
        return Answerability(0.0, 0.0, _find_missing_words(asked, set()))
    weights = compute_idf(list(asked.weights), counts)
    readings = count_passage_terms(passages, weights)
    values = compute_features(asked, readings, weights)
    logit = sum(weight * values[name] for name, weight in COEFFICIENTS.items())
    best = _best_page_terms(asked, readings, weights)
    return Answerability(
        round(1 / (1 + exp(-logit)), 4), round(values["covered"], 4), _find_missing_words(asked, best)
    )


def compute_features(
    asked: ParsedQuestion, readings: Sequence[PassageTerms], weights: dict[str, float]
) -> dict[str, float]:
    """What the estimate is made from, by name; every value is of the order of 1."""
    total = sum(weights.values()) or 1.0
    pages = _group_by_page(readings)
    sentence = score_sentences(asked.text, [reading.passage for reading in readings[:MAX_SENTENCE_PASSAGES]])[
        :1
    ]
    return {
        "intercept": 1.0,
        "passage": max(score_bm25(weights, reading.bag, len(reading.passage.text)) for reading in readings)
        / total,
        "page": log(1 + max(_score_page(weights, found) for found in pages)),
        "sentence": sentence[0].score if sentence else 0.0,
        "covered": covered_weight_share(
            group_weights_by_prefix(asked, weights), _best_page_terms(asked, readings, weights)
        ),
        "third": readings[min(2, len(readings) - 1)].score / total,
        "number": float(asked.answer_type == "number"),
        "place": float(asked.answer_type == "place"),
        "person": float(asked.answer_type == "person"),
    }


def count_passage_terms(passages: Sequence[Passage], weights: dict[str, float]) -> list[PassageTerms]:
    """The passages with their words counted, best first."""
    found = []
    for passage in passages:
        bag, title = (
            Counter(stem_words(passage.text)),
            Counter(stem_words(f"{passage.title} {passage.heading}")),
        )
        found.append(
            PassageTerms(passage, bag, title, score_bm25(weights, bag + title + title, len(passage.text)))
        )
    return sorted(found, key=lambda reading: -reading.score)


def _group_by_page(readings: Sequence[PassageTerms]) -> list[list[PassageTerms]]:
    pages: dict[str, list[PassageTerms]] = {}
    for reading in readings:
        pages.setdefault(reading.passage.page_id, []).append(reading)
    return list(pages.values())


def _score_page(weights: dict[str, float], page: Sequence[PassageTerms]) -> float:
    bag: Counter[str] = Counter(page[0].title + page[0].title)
    for reading in page:
        bag.update(reading.bag)
    return score_bm25(weights, bag, sum(len(reading.passage.text) for reading in page), usual=1000.0)


def _best_page_terms(
    asked: ParsedQuestion, readings: Sequence[PassageTerms], weights: dict[str, float]
) -> set[str]:
    """The (rough) words of the page that holds most of the question."""
    asked_for = group_weights_by_prefix(asked, weights)
    return max(
        (set().union(*(reading.words for reading in page)) for page in _group_by_page(readings)),
        key=lambda words: covered_weight_share(asked_for, words),
    )


def _find_missing_words(asked: ParsedQuestion, words: set[str]) -> tuple[str, ...]:
    spelled = {stem(word): word for word in reversed(tokenize(asked.text))}
    weighty = [
        word
        for word, weight in asked.weights.items()
        if weight > COMMON_WORD_WEIGHT and spelled.get(word, "") not in load_words("chatter")
    ]
    return tuple(spelled[word] for word in weighty if stem_prefix(word) not in words and word in spelled)


def score_question_coverage(
    question: str, passages: Sequence[Passage], counts: CollectionCounts
) -> list[Passage]:
    """The passages with their share of the question's weight as score: what only title or heading holds
    counts a little less."""
    asked = parse_question(question)
    weights = group_weights_by_prefix(asked, compute_idf(list(asked.weights), counts))
    return [
        passage.model_copy(
            update={
                "score": round(
                    covered_weight_share(
                        weights, _stem_set(passage.text), _stem_set(f"{passage.title} {passage.heading}")
                    ),
                    4,
                )
            }
        )
        for passage in passages
    ]


def _stem_set(text: str) -> set[str]:
    return {stem_prefix(word) for word in stem_words(text)}
