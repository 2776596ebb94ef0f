"""Which stretch of a site's pages answers a question, by rule: a section whose heading names the matter, else the best sentences.

Knows passages and a question, no run. A score of 1 means that title, heading and words say all that is asked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent.roles.answering import Candidate, candidates, row_statement, topic
from agent.text.question import Asked, read
from agent.text.sections import Section, kin, sections
from agent.text.sentences import spans
from agent.text.stopwords import STOPWORDS
from agent.text.words import content_stems, rough, stems, tokens
from agent.types import Passage

WORDS = 110
"""Words of an answer at most."""
QUOTES = 5
"""Quotes that are kept as facts of one page."""
BEARS = 0.2
"""The least score of a sentence that is kept as a fact."""
OWN = 0.6
"""How much of a sentence's score comes from the turn's own words, when the conversation lends it others."""
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


def ranked(question: str, own: str, passages: Sequence[Passage]) -> list[Candidate]:
    """The sentences and rows by how well they answer. `question` stands alone; `own` is the turn as it was typed.

    A turn of a conversation is scored both ways: what it asks in its own words counts OWN of it, for on a site about one thing the
    words that the conversation lends it are everywhere.
    """
    lent = candidates(question, passages)
    if own == question or not content(own):
        return lent
    typed = {(candidate.passage.id, candidate.quote): candidate.score for candidate in candidates(own, passages)}
    mixed = [replace(c, score=round(OWN * typed[(c.passage.id, c.quote)] + (1 - OWN) * c.score, 4)) for c in lent]
    return sorted(mixed, key=lambda candidate: -candidate.score)


def content(text: str) -> bool:
    """Has a turn words of its own that say something?"""
    return any(word not in STOPWORDS for word in tokens(text))


def best_quotes(question: str, own: str, passages: Sequence[Passage]) -> list[Quoted]:
    """The sentences and rows of a page that bear most on the question."""
    asked = read(question)
    return [quoted(asked, c.passage, c.quote, c.score) for c in ranked(question, own, passages)[:QUOTES] if c.score >= BEARS]


def quoted(asked: Asked, passage: Passage, quote: str, score: float) -> Quoted:
    """A sentence or row of a passage, with what it is taken to say and to be about."""
    subject, attribute = topic(asked, passage.title, quote)
    statement = row_statement(passage.heading, quote) if passage.rows else quote
    return Quoted(passage.page_id, quote, statement, subject, attribute, score)


def bearing(question: str, own: str, passages: Sequence[Passage]) -> float:
    """How well these passages answer: the better of their best sentence and their best section."""
    best = max((candidate.score for candidate in ranked(question, own, passages)[:1]), default=0.0)
    by_heading = max((named(read(question), read(own), section) for section in sections(passages)), default=0.0)
    return round(max(best, BY_HEADING * by_heading), 4)


def named(asked: Asked, own: Asked, section: Section) -> float:
    """How well a section's title, heading and opening name what is asked; 0 when its heading names nothing.

    The lesser of two shares of weight: of all words of the question that stands alone, and of the turn's `own` words that are not
    its subject's (the page's title).
    """
    title = {rough(word) for word in stems(section.passages[0].title)}
    heading = {rough(word) for word in content_stems(section.heading)}
    opening = {rough(word) for word in stems(section.passages[0].text[:OPENING_CHARS])}
    heard = {
        word: 1.0 if word in heading else KIN if kin(word) & heading else OPENING if word in opening else 0.0 for word in {*asked.rough, *own.rough}
    }
    aside = {word: weight for word, weight in (own.rough or asked.rough).items() if word not in title}
    if not aside or not any(heard[word] >= KIN for word in aside):
        return 0.0
    whole = sum(weight * (1.0 if word in title else heard[word]) for word, weight in asked.rough.items()) / sum(asked.rough.values())
    return min(whole, sum(weight * heard[word] for word, weight in aside.items()) / sum(aside.values()))


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
