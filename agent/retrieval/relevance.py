"""Which sentences answer a question, by rule: the keyless reader's eye. Knows one question and sentences, no
run.

A sentence scores by the question's words it holds (roughly stemmed; those only in its title or heading, or
only in its neighbours, count less), by holding the kind of thing asked for, by sharing word pairs, and by
opening its page. The weights come from a logistic regression over some 800 questions of three kinds (does
this sentence hold the answer?), rounded, and divided by what a perfect sentence would reach, so that a score
lies between 0 and 1."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from agent.retrieval.term_coverage import folded_names
from agent.text.answer_type import has_answer_type
from agent.text.question_analysis import ParsedQuestion, parse_question
from agent.text.sentences import find_sentence_spans
from agent.text.tokens import stem_prefix, stem_words, tokenize
from agent.types import Fact, Passage

SENTENCE_WEIGHT, HEADING_WEIGHT, NEIGHBOUR_WEIGHT = 3.0, 1.5, 0.9
"""What covering the whole question is worth: in the sentence, only in title or heading, only in the
neighbouring sentences."""
ANSWER_TYPE_WEIGHT, UNKNOWN_TYPE_WEIGHT = 1.2, 0.6
"""What holding the expected kind of answer is worth, and what when no kind can be told."""
OPENING_WEIGHT, PAIRS_WEIGHT, SHORT_PENALTY = 0.7, 1.0, -0.5
"""The first sentence of a page; all of the question's word pairs; fewer than SHORT_WORDS words."""
SHORT_WORDS = 8
MAX_SCORE = SENTENCE_WEIGHT + ANSWER_TYPE_WEIGHT + OPENING_WEIGHT + PAIRS_WEIGHT
MIN_CHARS = 12
"""Characters below which a line is no sentence."""


@dataclass(frozen=True)
class ScoredSentence:
    """A sentence or table row of a passage and how well it answers (0..1)."""

    passage: Passage
    quote: str
    score: float
    opening: bool = False
    words: frozenset[str] = frozenset()
    """Its rough stems."""


def score_sentences(question: str, passages: Sequence[Passage]) -> list[ScoredSentence]:
    """Every sentence and row of the passages with its score, best first; ties in the order given."""
    asked = parse_question(question)
    found: list[ScoredSentence] = []
    for passage in passages:
        around = _stem_set(f"{passage.title} {passage.heading}")
        quotes = _split_units(passage)
        sets = [_stem_set(quote) for quote in quotes]
        for n, quote in enumerate(quotes):
            near = frozenset().union(*sets[max(0, n - 1) : n], *sets[n + 1 : n + 2])
            opening = n == 0 and _is_opening(passage.start, passage.title) and not passage.rows
            found.append(
                ScoredSentence(
                    passage,
                    quote,
                    _score_sentence(asked, quote, around, near, opening=opening),
                    opening,
                    sets[n],
                )
            )
    return sorted(found, key=lambda candidate: -candidate.score)


def score_fact(question: str, fact: Fact) -> float:
    """How well a fact's quote answers, by the same rule; its neighbours are not known."""
    return _score_sentence(
        parse_question(question),
        fact.quote,
        _stem_set(fact.title),
        frozenset(),
        opening=_is_opening(fact.start, fact.title),
    )


def _split_units(passage: Passage) -> list[str]:
    if passage.rows:
        return [line.strip() for line in passage.text.split("\n") if line.strip()]
    above = {passage.title, passage.heading.split(" › ")[-1]}
    quotes = [passage.text[a:b] for a, b in find_sentence_spans(passage.text)]
    return [quote for quote in quotes if len(quote) >= MIN_CHARS and quote not in above]


def _is_opening(start: int, title: str) -> bool:
    """Does what starts here open its page, after the title's own line?"""
    return 0 <= start <= len(title) + 40


def _stem_set(text: str) -> frozenset[str]:
    return frozenset(stem_prefix(word) for word in stem_words(text))


def _score_sentence(
    asked: ParsedQuestion, quote: str, around: frozenset[str], near: frozenset[str], *, opening: bool
) -> float:
    words = stem_words(quote)
    here = {stem_prefix(word) for word in words}
    total = sum(asked.prefix_weights.values()) or 1.0
    got = 0.0
    for word, weight in asked.prefix_weights.items():
        got += weight * (
            SENTENCE_WEIGHT
            if word in here
            else max(HEADING_WEIGHT * (word in around), NEIGHBOUR_WEIGHT * (word in near))
        )
    got /= total
    if not got:
        return 0.0
    pairs = len(asked.bigrams.intersection(pairwise(words))) / (len(asked.bigrams) or 1)
    fits = (
        UNKNOWN_TYPE_WEIGHT
        if asked.answer_type in ("thing", "manner")
        else ANSWER_TYPE_WEIGHT * has_answer_type(asked.answer_type, quote, folded_names(asked))
    )
    extra = (
        fits + PAIRS_WEIGHT * pairs + OPENING_WEIGHT * opening + SHORT_PENALTY * (len(words) < SHORT_WORDS)
    )
    return round(max(0.0, min(1.0, (got + extra * min(1.0, got)) / MAX_SCORE)), 4)


def describe_row(header: str, row: str) -> str:
    """A table row told as "column: cell" pairs, one of two cells without a header as "name: value"; else the
    row as it stands."""
    cells, columns = [c.strip() for c in row.split("|")], [c.strip() for c in header.split("|")]
    if len(cells) == 2 and all(cells) and len(columns) == 1:
        return ": ".join(cells)
    if len(cells) != len(columns) or len(cells) < 2 or cells == columns:
        return row
    return "; ".join(
        f"{column}: {cell}" if column else cell for column, cell in zip(columns, cells, strict=True) if cell
    )


def find_topic(asked: ParsedQuestion, title: str, quote: str) -> tuple[str, str]:
    """Subject and attribute of a sentence: a name of the question that it or its title holds, else the title
    without its site's name.

    No attribute is told by rule: tried with the question's own words, it set apart more answers that agreed
    than it found conflicts."""
    told = f" {' '.join(tokenize(f'{title} {quote}'))} "
    name = next((name for name in asked.names if f" {' '.join(tokenize(name))} " in told), "")
    return name or re.split(r"\s+[|–—·]\s+|\s+-\s+", title)[0].strip() or quote[:60], ""
