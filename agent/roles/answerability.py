"""Do these passages answer the question, or are they merely the nearest to be had? An estimate by rule, from words alone.

A logistic regression over what can be counted: how much of the question, rare words weighing most, one passage holds; how much its
page; how well the best sentence answers; what kind of thing is asked for. Fitted and checked out of fold by
`tests/bench/answerability.py`; the figures stand in DECISIONS.md. Chat, reply and whoever quotes passages keyless use it to refuse.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log

from agent.roles.answering import candidates
from agent.text.question import FAINT, Asked, read
from agent.text.rarity import Counts, bm25, held, rarity, rough_weights
from agent.text.spoken import CHATTER
from agent.text.words import rough, stem, stems, tokens
from agent.types import Passage

ANSWERS = 0.5
"""The least probability of an answer. The classes were weighed equally: here refusing and answering wrongly cost the same."""
READ = 3
"""Passages whose sentences are looked at."""
TITLE = 2.0
"""What a word counts that stands in the title, in the score of a page."""
WEIGHTS = {
    "intercept": -8.25, "passage": 1.26, "page": 1.82, "sentence": 3.12, "covered": 0.87, "third": -0.56, "number": -1.02, "place": 0.57,
    "person": -0.44,
}  # fmt: skip


@dataclass(frozen=True)
class Answerable:
    """The estimate (0..1), the share of the question's weight that the best page holds, and the words it holds nowhere, as spelled."""

    probability: float
    covered: float
    missing: tuple[str, ...] = ()

    @property
    def yes(self) -> bool:
        """Is it likely enough to answer?"""
        return self.probability >= ANSWERS


@dataclass(frozen=True)
class Counted:
    """A passage with its words counted, and its own score for the question."""

    passage: Passage
    bag: Counter[str]
    title: Counter[str]
    score: float

    @property
    def words(self) -> set[str]:
        """Its words and its title's, roughly stemmed."""
        return {rough(word) for word in (*self.bag, *self.title)}


def judge(question: str, passages: Sequence[Passage], counts: Counts) -> Answerable:
    """The estimate for a question that stands alone and the passages found for it; 0 without any."""
    asked = read(question)
    if not passages or not asked.weights:
        return Answerable(0.0, 0.0, _missing(asked, set()))
    weights = rarity(list(asked.weights), counts)
    readings = readings_of(passages, weights)
    values = inputs(asked, readings, weights)
    logit = sum(weight * values[name] for name, weight in WEIGHTS.items())
    best = _best_page(asked, readings, weights)
    return Answerable(round(1 / (1 + exp(-logit)), 4), round(values["covered"], 4), _missing(asked, best))


def inputs(asked: Asked, readings: Sequence[Counted], weights: dict[str, float]) -> dict[str, float]:
    """What the estimate is made from, by name; every value is of the order of 1."""
    total = sum(weights.values()) or 1.0
    pages = _pages(readings)
    sentence = candidates(asked.text, [reading.passage for reading in readings[:READ]])[:1]
    return {
        "intercept": 1.0,
        "passage": max(bm25(weights, reading.bag, len(reading.passage.text)) for reading in readings) / total,
        "page": log(1 + max(_page_score(weights, found) for found in pages)),
        "sentence": sentence[0].score if sentence else 0.0,
        "covered": held(rough_weights(asked, weights), _best_page(asked, readings, weights)),
        "third": readings[min(2, len(readings) - 1)].score / total,
        "number": float(asked.kind == "number"), "place": float(asked.kind == "place"), "person": float(asked.kind == "person"),
    }  # fmt: skip


def readings_of(passages: Sequence[Passage], weights: dict[str, float]) -> list[Counted]:
    """The passages with their words counted, best first."""
    found = []
    for passage in passages:
        bag, title = Counter(stems(passage.text)), Counter(stems(f"{passage.title} {passage.heading}"))
        found.append(Counted(passage, bag, title, bm25(weights, bag + title + title, len(passage.text))))
    return sorted(found, key=lambda reading: -reading.score)


def _pages(readings: Sequence[Counted]) -> list[list[Counted]]:
    pages: dict[str, list[Counted]] = {}
    for reading in readings:
        pages.setdefault(reading.passage.page_id, []).append(reading)
    return list(pages.values())


def _page_score(weights: dict[str, float], page: Sequence[Counted]) -> float:
    bag: Counter[str] = Counter(page[0].title + page[0].title)
    for reading in page:
        bag.update(reading.bag)
    return bm25(weights, bag, sum(len(reading.passage.text) for reading in page), usual=1000.0)


def _best_page(asked: Asked, readings: Sequence[Counted], weights: dict[str, float]) -> set[str]:
    """The (rough) words of the page that holds most of the question."""
    asked_for = rough_weights(asked, weights)
    return max((set().union(*(reading.words for reading in page)) for page in _pages(readings)), key=lambda words: held(asked_for, words))


def _missing(asked: Asked, words: set[str]) -> tuple[str, ...]:
    spelled = {stem(word): word for word in reversed(tokens(asked.text))}
    weighty = [word for word, weight in asked.weights.items() if weight > FAINT and spelled.get(word, "") not in CHATTER]
    return tuple(spelled[word] for word in weighty if rough(word) not in words and word in spelled)


def relevance(question: str, passages: Sequence[Passage], counts: Counts) -> list[Passage]:
    """The passages with their share of the question's weight as score: what only title or heading holds counts a little less."""
    asked = read(question)
    weights = rough_weights(asked, rarity(list(asked.weights), counts))
    return [
        passage.model_copy(update={"score": round(held(weights, _rough(passage.text), _rough(f"{passage.title} {passage.heading}")), 4)})
        for passage in passages
    ]


def _rough(text: str) -> set[str]:
    return {rough(word) for word in stems(text)}
