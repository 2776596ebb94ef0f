"""Writes the answer to a question about a site from its pages, or refuses it politely. Knows passages, not where they came from.

The keyless side quotes: a section whose heading names the matter, from its start; else the sentences that bear most on the
question, with those that follow them. It refuses when the best of them does not answer well, and says what kind of refusal it is.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from agent.roles.answering import Candidate
from agent.roles.role import Role
from agent.roles.support import BY_HEADING, WORDS, Quoted, bearing, named, of_section, quoted, ranked, units
from agent.text.followup import leans
from agent.text.question import FAINT, NAME, Asked, read
from agent.text.sections import sections
from agent.text.words import stem
from agent.types import Passage, Turn

ANSWERS = 0.38
"""The least bearing of the best evidence that is an answer. Chosen where refusing the unanswerable and answering the rest balance."""
AWAY = 0.3
"""What an answer loses when nothing that is asked about the things named stands on the site."""
FAMILIAR = 0.25
"""The share of the question's weighty words that the site may know for it to be off topic all the same."""
BY_SECTION = 0.72
"""How much of the question title and heading must name for a section to be the answer."""
NEAR = 0.7
"""A sentence joins the answer that bears at least this share of what the best one bears."""
RIVAL = 0.6
"""A section answers only when it bears at least this share of what the best sentence bears."""
SENTENCES = 4
"""The sentences that bear most, when no section answers; each may bring the one after it."""

Refusal = Literal["none", "off_topic", "not_covered", "needs_clarification"]


class DraftQuote(BaseModel):
    """Verbatim words of one passage."""

    model_config = ConfigDict(extra="ignore")

    passage_id: str
    quote: str = Field(description="copied character by character from that passage")


class DraftSentence(BaseModel):
    """One sentence of the answer and the words of the pages it stands on."""

    model_config = ConfigDict(extra="ignore")

    text: str
    quotes: list[DraftQuote] = Field(default_factory=list)


class DraftReply(BaseModel):
    """An answer, or a refusal with a polite message."""

    model_config = ConfigDict(extra="ignore")

    refusal: Refusal = "none"
    answer: list[DraftSentence] = Field(default_factory=list, description="empty when refusing")
    message: str = Field(default="", description="when refusing: one or two polite sentences to the person, or the question to ask back")
    missing: str = Field(default="", description="what was asked for and is not on the pages; empty when nothing")
    confidence: float = Field(default=0.0, ge=0.0, le=1.0)


def keyless(
    *,
    question: str,
    asked: str,
    history: list[Turn],
    instruction: str,
    notes: list[str],
    reasoning: str,
    passages: list[Passage],
    strange: list[str],
    site: str,
    forced: str,
    former: str,
) -> DraftReply:
    """Quoted sentences, or a refusal: ask back, off topic, or not covered."""
    wanted = " ".join([asked, *notes])
    own = notes[-1] if notes else question
    level = bearing(wanted, own, passages) * (1 - AWAY * _unsaid(own, strange)) if passages else 0.0
    if not history and _hangs(question):
        message = "This question points to something that was not named. What, or whom, is it about?"
        return DraftReply(refusal="needs_clarification", message=message, confidence=level)
    if level < ANSWERS:
        return _refused(question, strange, site, level)
    weights = read(question).weights
    open_ = [word for word in strange if weights.get(stem(word), 0.0) > FAINT]
    missing = f"Not found on the site: {', '.join(open_)}." if open_ else ""
    answer = [
        DraftSentence(text=quote.statement or quote.quote, quotes=[DraftQuote(passage_id=_home(quote, passages), quote=quote.quote)])
        for quote in chosen_quotes(wanted, own, passages)
    ]
    return DraftReply(answer=answer, missing=missing, confidence=round(level, 4))


def _refused(question: str, strange: list[str], site: str, level: float) -> DraftReply:
    if _familiar(question, strange) <= FAMILIAR:
        words = ", ".join(f"“{word}”" for word in strange[:4])
        message = (
            f"I answer from the pages of {site}, and this does not seem to be about them: "
            f"no page read and no address known there speaks of {words}."
        )
        return DraftReply(refusal="off_topic", message=message, missing=", ".join(strange), confidence=round(level, 4))
    message = f"The pages of {site} that were read touch on the subject, but they do not answer this, so I would rather not guess."
    return DraftReply(refusal="not_covered", message=message, missing=", ".join(strange), confidence=round(level, 4))


def _home(found: Quoted, passages: list[Passage]) -> str:
    return next(passage.id for passage in passages if passage.page_id == found.page_id and found.quote in passage.text)


def _unsaid(own: str, strange: list[str]) -> float:
    """Of what a turn asks about the things it names (its words beside their names), the share that stands nowhere on the site."""
    away = {stem(word) for word in strange}
    asks = {word: weight for word, weight in read(own).weights.items() if FAINT < weight < NAME}
    return sum(weight for word, weight in asks.items() if word in away) / sum(asks.values()) if asks else 0.0


def chosen_quotes(question: str, own: str, passages: list[Passage]) -> list[Quoted]:
    """The quotes of the answer in reading order: of the section that is asked for, else the best sentences and what follows them."""
    return section_quotes(question, own, passages) or _sentences(read(question), ranked(question, own, passages))


def section_quotes(question: str, own: str, passages: list[Passage]) -> list[Quoted]:
    """The sentences of the section whose title and heading name what is asked, from its start; none when no section does."""
    asked, typed = read(question), read(own)
    best = max(sections(passages), key=lambda section: named(asked, typed, section), default=None)
    said = named(asked, typed, best) if best else 0.0
    if best is None or said < BY_SECTION:
        return []
    rival = max((candidate.score for candidate in ranked(question, own, passages)[:1]), default=0.0)
    return of_section(asked, best) if BY_HEADING * said >= RIVAL * rival else []


def _sentences(asked: Asked, rivals: list[Candidate]) -> list[Quoted]:
    chosen: list[Quoted] = []
    room = WORDS
    least = NEAR * rivals[0].score if rivals else 1.0
    for candidate in [candidate for candidate in rivals[:SENTENCES] if candidate.score >= least]:
        for quote in _with_next(candidate):
            words = len(quote.split())
            if any(quote == other.quote for other in chosen) or (chosen and words > room):
                continue
            chosen.append(quoted(asked, candidate.passage, quote, candidate.score))
            room -= words
    return chosen


def _with_next(candidate: Candidate) -> list[str]:
    if candidate.passage.rows:
        return [candidate.quote]
    around = units(candidate.passage)
    at = around.index(candidate.quote) if candidate.quote in around else -1
    following = around[at + 1 : at + 2] if at >= 0 else []
    return [quote for quote in (candidate.quote, *following) if len(quote.split()) > 3 and not quote.endswith("?")]


def _hangs(question: str) -> bool:
    """Does a first question point at something that nobody has named?"""
    return leans(question) and len(read(question).weights) <= 1


def _familiar(question: str, strange: list[str]) -> float:
    """The share of the question's weight (words too common to say much left out) that the site knows; 1 when there is none."""
    away = {stem(word) for word in strange}
    weights = {word: weight for word, weight in read(question).weights.items() if weight > FAINT}
    return sum(weight for word, weight in weights.items() if word not in away) / sum(weights.values()) if weights else 1.0


DRAFT = Role(name="draft", reply=DraftReply, keyless=keyless, tier="strong")
