"""Scores how well sentences answer a question, by rule. Knows one question and sentences, no run.

A sentence scores by the question's words it holds (by stem prefix; words only in its title or heading, or
only in a neighbouring sentence, count less), by holding the expected type of answer, by shared word pairs and
by opening its page. The weights are rounded from a logistic regression over some 800 questions ("does this
sentence hold the answer?"), divided by the best possible sum, so that a score is between 0 and 1."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from agent.retrieval.passages import split_sentences
from agent.retrieval.term_coverage import folded_names, prefix_share, stem_prefixes
from agent.text.answer_type import has_answer_type
from agent.text.question_analysis import ParsedQuestion, parse_question
from agent.text.tokens import stem_words
from agent.types import Fact, Passage

SENTENCE_WEIGHT, HEADING_WEIGHT, NEIGHBOUR_WEIGHT = 3.0, 1.5, 0.9
"""For covering the whole question: in the sentence, only in title or heading, only in the neighbouring
sentences."""
ANSWER_TYPE_WEIGHT, UNKNOWN_TYPE_WEIGHT = 1.2, 0.6
"""For holding the expected type of answer, and when no type is known."""
OPENING_WEIGHT, PAIRS_WEIGHT, SHORT_PENALTY = 0.7, 1.0, -0.5
"""For the first sentence of a page; for all of the question's word pairs; for fewer than SHORT_WORDS
words."""
SHORT_WORDS = 8
MIN_PAGES, SUBJECT_SHARE, SUBJECT_WEIGHT = 3, 0.6, 0.3
"""From how many pages on, a word on more than this share of them counts as their subject, with this part of
its weight."""
MAX_SCORE = SENTENCE_WEIGHT + ANSWER_TYPE_WEIGHT + OPENING_WEIGHT + PAIRS_WEIGHT


@dataclass(frozen=True)
class ScoredSentence:
    """A sentence or table row of a passage, how well it answers (0..1), and the share of the question's words
    that it holds with its title and heading."""

    passage: Passage
    quote: str
    score: float
    share: float


def score_sentences(question: str, passages: Sequence[Passage]) -> list[ScoredSentence]:
    """Every sentence and row of the passages with its score, best first; ties in the order given."""
    asked = weigh_by_pages(parse_question(question), page_texts(passages))
    found: list[ScoredSentence] = []
    for passage in passages:
        around = stem_prefixes(f"{passage.title} {passage.heading}")
        quotes = split_sentences(passage)
        words = [stem_prefixes(quote) for quote in quotes]
        for n, quote in enumerate(quotes):
            near = frozenset().union(*words[max(0, n - 1) : n], *words[n + 1 : n + 2])
            opening = n == 0 and not passage.rows and is_opening(passage.start, passage.title)
            score = _score_sentence(asked, quote, around, near, opening=opening)
            found.append(ScoredSentence(passage, quote, score, prefix_share(asked, words[n] | around)))
    return sorted(found, key=lambda candidate: -candidate.score)


def page_texts(passages: Iterable[Passage]) -> list[tuple[str, str]]:
    """Each passage as a pair of its page and its text with title and heading."""
    return [(p.page_id, f"{p.title} {p.heading} {p.text}") for p in passages]


def weigh_by_pages(asked: ParsedQuestion, texts: Iterable[tuple[str, str]]) -> ParsedQuestion:
    """The question with less weight for words that most of several pages hold, given as pairs of page and
    text: they are what all of them are about."""
    pages: dict[str, set[str]] = {}
    for page, text in texts:
        pages.setdefault(page, set()).update(stem_prefixes(text))
    if len(pages) < MIN_PAGES:
        return asked
    held = Counter(word for words in pages.values() for word in words & asked.prefix_weights.keys())
    weights = {
        word: weight * (1.0 if held[word] <= SUBJECT_SHARE * len(pages) else SUBJECT_WEIGHT)
        for word, weight in asked.prefix_weights.items()
    }
    return replace(asked, prefix_weights=weights)


def score_fact(question: str | ParsedQuestion, fact: Fact) -> float:
    """How well a fact's quote answers (0..1), without its neighbours."""
    asked = parse_question(question) if isinstance(question, str) else question
    around, opening = stem_prefixes(fact.title), is_opening(fact.start, fact.title)
    return _score_sentence(asked, fact.quote, around, (), opening=opening)


def is_opening(start: int, title: str) -> bool:
    """Does a text at this offset open its page, after the title's own line?"""
    return 0 <= start <= len(title) + 40


def _score_sentence(
    asked: ParsedQuestion, quote: str, around: Collection[str], near: Collection[str], *, opening: bool
) -> float:
    words, here = stem_words(quote), stem_prefixes(quote)
    covered = sum(
        weight
        * (
            SENTENCE_WEIGHT
            if word in here
            else max(HEADING_WEIGHT * (word in around), NEIGHBOUR_WEIGHT * (word in near))
        )
        for word, weight in asked.prefix_weights.items()
    ) / (sum(asked.prefix_weights.values()) or 1.0)
    if not covered:
        return 0.0
    pairs = len(asked.bigrams.intersection(pairwise(words))) / (len(asked.bigrams) or 1)
    if asked.answer_type in ("thing", "manner"):
        fits = UNKNOWN_TYPE_WEIGHT
    else:
        fits = ANSWER_TYPE_WEIGHT * has_answer_type(asked.answer_type, quote, folded_names(asked))
    short = SHORT_PENALTY * (len(words) < SHORT_WORDS)
    extra = fits + PAIRS_WEIGHT * pairs + OPENING_WEIGHT * opening + short
    return round(max(0.0, min(1.0, (covered + extra * min(1.0, covered)) / MAX_SCORE)), 4)
