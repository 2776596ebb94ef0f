"""Which stretch of a site's pages answers a question, by rule: a section whose heading names the matter, else the best sentences.

Knows passages and a question, no run. A score of 1 means that title, heading and words say all that is asked.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent.roles.answering import Candidate, candidates, row_statement, topic
from agent.text.expected import holds
from agent.text.point import Point, point, rough_words, subject_of
from agent.text.question import FAINT, Asked, read
from agent.text.sections import Section, kin, sections
from agent.text.sentences import spans
from agent.text.stopwords import STOPWORDS
from agent.text.words import content_stems, rough, stem, stems, tokens
from agent.types import Passage
from agent.urls import host

WORDS = 110
"""Words of an answer at most."""
QUOTES = 5
"""Quotes that are kept as facts of one page."""
BEARS = 0.2
"""The least score of a sentence that is kept as a fact."""
BESIDE = 0.5
"""What a sentence loses that speaks to nothing of what is asked about the thing."""
ENTRY, ENTRY_FITS = 0.7, 0.2
"""What a row is worth that is the entry of the thing asked about, and what holding the kind of thing asked for adds."""
OWN = 0.6
"""How much of a sentence's score comes from the turn's own words, when the conversation lends it others."""
BY_HEADING = 0.9
"""What a section is worth whose title and heading name all that is asked, against a sentence that says it all."""
KIN, OPENING = 0.8, 0.55
"""What a word counts that a heading means by another word, and one that stands in a section's opening only."""
OPENING_CHARS = 160
_ASIDE = re.compile(r"\([^)]*\)")
_DATED = re.compile(
    r"^(?:last\s+)?(?:updated|modified|changed|reviewed|published|posted|zuletzt|stand|senast|uppdaterad|mis à jour|actualizado)\b.{0,60}$",
    re.IGNORECASE,
)
"""A line that says when a page was written, not what it says."""


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


def ranked(question: str, own: str, passages: Sequence[Passage], about: frozenset[str] = frozenset()) -> list[Candidate]:
    """The sentences and rows by how well they answer. `question` stands alone; `own` is the turn as it was typed.

    A turn of a conversation is scored both ways: what it asks in its own words counts OWN of it, for on a site about one thing the
    words that the conversation lends it are everywhere. A sentence that says nothing of what is asked about the thing falls behind.
    """
    lent = _rows_by_name(question, candidates(question, passages))
    if own != question and content(own):
        typed = {(c.passage.id, c.quote): c.score for c in _rows_by_name(own, candidates(own, passages))}
        lent = [replace(c, score=OWN * typed[(c.passage.id, c.quote)] + (1 - OWN) * c.score) for c in lent]
    pointed = [replace(c, score=round(c.score * (1 - BESIDE + BESIDE * spoken_to(pointing(question, own), c, about)), 4)) for c in lent]
    return sorted(pointed, key=lambda candidate: -candidate.score)


def pointing(question: str, own: str) -> str:
    """The text that says what is asked: the turn as it was typed, unless it has no telling word of its own."""
    return own if content(own) and point(own).words else question


def spoken_to(asking: str, candidate: Candidate, about: frozenset[str] = frozenset()) -> float:
    """The share of what is asked about the thing that a sentence and its heading speak to; the thing stands in the title."""
    asks = point(asking, about | rough_words([candidate.passage.title]))
    share = asks.share(candidate.words | rough_words([candidate.passage.heading]))
    return share if asks.telling else (1 + share) / 2


def gaps(asking: str, passages: Sequence[Passage], about: frozenset[str] = frozenset()) -> list[str]:
    """The words without which there is no answer, as the question spells them: codes and names that no page holds; all that is asked about
    the thing, when no page speaks of any of it."""
    asks, known = point(asking, about), frozenset().union(*pages_of(passages))
    lacking = asks.lacks(known)
    if not lacking and asks.words and asks.telling and asks.share(known) == 0:
        lacking = frozenset(word for word, weight in asks.words.items() if weight > FAINT)
    return list(dict.fromkeys(word for word in tokens(asking) if rough(stem(word)) in lacking))


def subject(passages: Sequence[Passage]) -> frozenset[str]:
    """What these pages are about as a whole: the (rough) words on most of them, and those of their hosts."""
    return subject_of(pages_of(passages)) | rough_words({host(passage.url).replace(".", " ") for passage in passages})


def pages_of(passages: Sequence[Passage]) -> list[frozenset[str]]:
    """The (rough) words of each page, its title and headings with them."""
    texts: dict[str, list[str]] = {}
    for passage in passages:
        texts.setdefault(passage.page_id, [passage.title]).extend((passage.heading, passage.text))
    return [rough_words(parts) for parts in texts.values()]


def _rows_by_name(question: str, found: list[Candidate]) -> list[Candidate]:
    """The candidates; a row whose first cell names what is asked says it as a whole sentence would."""
    return [replace(c, score=max(c.score, _of_row(question, c))) if c.passage.rows else c for c in found]


def _of_row(question: str, row: Candidate) -> float:
    """What a row is worth that is the entry of a thing asked about ("Weight | 310 g"), by the words it and what is above it hold."""
    asks = point(question, rough_words([row.passage.title]))
    name = {rough(word) for word in content_stems(_ASIDE.sub(" ", row.quote.split("|")[0]))}
    if not any(asks.meets(word, name) for word in asks.words) or 2 * sum(_meant(asks, word) for word in name) < len(name):
        return 0.0
    asked = read(question)
    whole = point(question)
    share = whole.share(row.words | rough_words([row.passage.title, row.passage.heading]))
    fits = asked.kind in ("definition", "thing", "manner") or holds(asked.kind, row.quote, frozenset(map(str.casefold, asked.names)))
    return share * share * (ENTRY + ENTRY_FITS * fits)


def _meant(asks: Point, word: str) -> bool:
    """Is this word of a row's name one that is asked about, or kin of one?"""
    return any(asks.meets(asked, {word}) for asked in asks.words)


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


def bearing(question: str, own: str, passages: Sequence[Passage], about: frozenset[str] = frozenset()) -> float:
    """How well these passages answer: the better of their best sentence and their best section."""
    best = max((candidate.score for candidate in ranked(question, own, passages, about)[:1]), default=0.0)
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
            if quote in (head, passage.title) or quote.endswith("?") or words < 2 or _DATED.match(quote):
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
