"""Which sentences answer a question, by rule: the keyless reader's eye. Knows one question and sentences, no run.

A sentence scores by the question's words it holds (roughly stemmed; those only in its title or heading, or only in its
neighbours, count less), by holding the kind of thing asked for, by sharing word pairs, and by opening its page. The weights come
from a logistic regression over some 800 questions of three kinds (does this sentence hold the answer?), rounded, and divided by
what a perfect sentence would reach, so that a score lies between 0 and 1.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from agent.text.coverage import folded_names
from agent.text.expected import holds
from agent.text.question import Asked, read
from agent.text.sentences import spans
from agent.text.words import rough, stems, tokens
from agent.types import Fact, Passage

HERE, AROUND, BESIDE = 3.0, 1.5, 0.9
"""What covering the whole question is worth: in the sentence, only in title or heading, only in the neighbouring sentences."""
KIND, HALF_KIND = 1.2, 0.6
"""What holding the expected kind of answer is worth, and what when no kind can be told."""
OPENING, PAIRS, SHORT = 0.7, 1.0, -0.5
"""The first sentence of a page; all of the question's word pairs; fewer than SHORT_WORDS words."""
SHORT_WORDS = 8
WHOLE = HERE + KIND + OPENING + PAIRS
SHORTEST = 12
"""Characters below which a line is no sentence."""


@dataclass(frozen=True)
class Candidate:
    """A sentence or table row of a passage and how well it answers (0..1)."""

    passage: Passage
    quote: str
    score: float
    opening: bool = False
    words: frozenset[str] = frozenset()
    """Its rough stems."""


def candidates(question: str, passages: Sequence[Passage]) -> list[Candidate]:
    """Every sentence and row of the passages with its score, best first; ties in the order given."""
    asked = read(question)
    found: list[Candidate] = []
    for passage in passages:
        around = _rough(f"{passage.title} {passage.heading}")
        quotes = _units(passage)
        sets = [_rough(quote) for quote in quotes]
        for n, quote in enumerate(quotes):
            near = frozenset().union(*sets[max(0, n - 1) : n], *sets[n + 1 : n + 2])
            opening = n == 0 and _opens(passage.start, passage.title) and not passage.rows
            found.append(Candidate(passage, quote, _score(asked, quote, around, near, opening=opening), opening, sets[n]))
    return sorted(found, key=lambda candidate: -candidate.score)


def fact_score(question: str, fact: Fact) -> float:
    """How well a fact's quote answers, by the same rule; its neighbours are not known."""
    return _score(read(question), fact.quote, _rough(fact.title), frozenset(), opening=_opens(fact.start, fact.title))


def _units(passage: Passage) -> list[str]:
    if passage.rows:
        return [line.strip() for line in passage.text.split("\n") if line.strip()]
    above = {passage.title, passage.heading.split(" › ")[-1]}
    quotes = [passage.text[a:b] for a, b in spans(passage.text)]
    return [quote for quote in quotes if len(quote) >= SHORTEST and quote not in above]


def _opens(start: int, title: str) -> bool:
    """Does what starts here open its page, after the title's own line?"""
    return 0 <= start <= len(title) + 40


def _rough(text: str) -> frozenset[str]:
    return frozenset(rough(word) for word in stems(text))


def _score(asked: Asked, quote: str, around: frozenset[str], near: frozenset[str], *, opening: bool) -> float:
    words = stems(quote)
    here = {rough(word) for word in words}
    total = sum(asked.rough.values()) or 1.0
    got = 0.0
    for word, weight in asked.rough.items():
        got += weight * (HERE if word in here else max(AROUND * (word in around), BESIDE * (word in near)))
    got /= total
    if not got:
        return 0.0
    pairs = len(asked.pairs.intersection(pairwise(words))) / (len(asked.pairs) or 1)
    fits = HALF_KIND if asked.kind in ("thing", "manner") else KIND * holds(asked.kind, quote, folded_names(asked))
    extra = fits + PAIRS * pairs + OPENING * opening + SHORT * (len(words) < SHORT_WORDS)
    return round(max(0.0, min(1.0, (got + extra * min(1.0, got)) / WHOLE)), 4)


def row_statement(header: str, row: str) -> str:
    """A table row told as "column: cell" pairs, one of two cells without a header as "name: value"; else the row as it stands."""
    cells, columns = [c.strip() for c in row.split("|")], [c.strip() for c in header.split("|")]
    if len(cells) == 2 and all(cells) and len(columns) == 1:
        return ": ".join(cells)
    if len(cells) != len(columns) or len(cells) < 2 or cells == columns:
        return row
    return "; ".join(f"{column}: {cell}" if column else cell for column, cell in zip(columns, cells, strict=True) if cell)


def topic(asked: Asked, title: str, quote: str) -> tuple[str, str]:
    """Subject and attribute of a sentence: a name of the question that it or its title holds, else the title without its site's name.

    No attribute is told by rule: tried with the question's own words, it set apart more answers that agreed than it found conflicts.
    """
    told = f" {' '.join(tokens(f'{title} {quote}'))} "
    name = next((name for name in asked.names if f" {' '.join(tokens(name))} " in told), "")
    return name or re.split(r"\s+[|–—·]\s+|\s+-\s+", title)[0].strip() or quote[:60], ""
