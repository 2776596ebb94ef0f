"""Which stretch of a site's pages answers a question, by rule: a section whose heading names the matter, else the best sentences.

Knows passages and a question, no run. A score of 1 means that title, heading and words say all that is asked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from agent.roles.answering import candidates, row_statement, topic
from agent.text.question import Asked, read
from agent.text.sections import Section, kin, sections
from agent.text.sentences import spans
from agent.text.words import content_stems, rough, stems
from agent.types import Passage

WORDS = 110
"""Words of an answer at most."""
QUOTES = 5
"""Quotes that are kept as facts of one page."""
BEARS = 0.2
"""The least score of a sentence that is kept as a fact."""
BY_HEADING = 0.9
"""What a section is worth whose title and heading name all that is asked, against a sentence that says it all."""
KIN, OPENING = 0.8, 0.55
"""What a word counts that a heading means by another word, and one that stands in a section's opening only."""
OPENING_CHARS = 160


@dataclass(frozen=True)
class Quoted:
    """Verbatim words of a stored page and what they are taken to say."""

    page_id: str
    quote: str
    statement: str = ""
    subject: str = ""
    attribute: str = ""
    score: float = 0.0


def fact_id(quoted: Quoted) -> str:
    """The identity of the fact a quote makes."""
    return "f" + hashlib.sha256(f"{quoted.page_id}\n{quoted.quote}\n{quoted.statement or quoted.quote}".encode()).hexdigest()[:7]


def best_quotes(question: str, passages: Sequence[Passage]) -> list[Quoted]:
    """The sentences and rows of a page that bear most on the question."""
    asked = read(question)
    return [quoted(asked, c.passage, c.quote, c.score) for c in candidates(question, passages)[:QUOTES] if c.score >= BEARS]


def quoted(asked: Asked, passage: Passage, quote: str, score: float) -> Quoted:
    """A sentence or row of a passage, with what it is taken to say and to be about."""
    subject, attribute = topic(asked, passage.title, quote)
    statement = row_statement(passage.heading, quote) if passage.rows else quote
    return Quoted(passage.page_id, quote, statement, subject, attribute, score)


def bearing(question: str, passages: Sequence[Passage]) -> float:
    """How well these passages answer: the better of their best sentence and their best section."""
    asked = read(question)
    best = max((c.score for c in candidates(question, passages)[:1]), default=0.0)
    by_heading = max((named(asked, section) for section in sections(passages)), default=0.0)
    return round(max(best, BY_HEADING * by_heading), 4)


def named(asked: Asked, section: Section) -> float:
    """How well a section's title, heading and opening name what is asked; 0 when its heading names nothing.

    The lesser of two shares of the question's weight: of all its words, and of those that are not its subject's (the page's title).
    """
    title = {rough(word) for word in stems(section.passages[0].title)}
    heading = {rough(word) for word in content_stems(section.heading)}
    opening = {rough(word) for word in stems(section.passages[0].text[:OPENING_CHARS])}
    aside = {word: weight for word, weight in asked.rough.items() if word not in title}
    got, said = 0.0, bool(heading & set(asked.rough))
    for word, weight in aside.items():
        if word in heading:
            got += weight
        elif kin(word) & heading:
            got, said = got + weight * KIN, True
        elif word in opening:
            got += weight * OPENING
    if not said or not aside:
        return 0.0
    total, wanted = sum(asked.rough.values()), sum(aside.values())
    return min((total - wanted + got) / total, got / wanted)


def of_section(asked: Asked, section: Section, room: int = WORDS) -> list[Quoted]:
    """The sentences of a section in order, from its start, as many as `room` words hold; headings and questions are left out."""
    head = section.heading.split(" › ")[-1]
    chosen: list[Quoted] = []
    for passage in section.passages:
        for quote in units(passage):
            words = len(quote.split())
            if quote in (head, passage.title) or quote.endswith("?") or words < 2:
                continue
            if chosen and words > room:
                return chosen
            room -= words
            chosen.append(quoted(asked, passage, quote, 1.0))
    return chosen


def units(passage: Passage) -> list[str]:
    """The sentences of a passage, or its rows."""
    if passage.rows:
        return [line.strip() for line in passage.text.split("\n") if line.strip()]
    return [passage.text[a:b] for a, b in spans(passage.text)]
