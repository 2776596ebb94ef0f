"""Writes the reply to a question from the chosen sources, or nothing. Knows passages, not where they came
from.

The keyless side quotes: a section whose heading names the matter, else the sentences that answer best. When
the passages are not likely to answer it writes nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from agent.retrieval.answerability import MIN_ANSWER_PROBABILITY
from agent.retrieval.excerpts import quote_best_section
from agent.retrieval.extractive_answer import Quotation, quote_section
from agent.retrieval.fact_selection import choose_facts
from agent.retrieval.sections import group_sections
from agent.roles.chat.generate import make_candidate_facts
from agent.roles.role import Role
from agent.roles.site.draft import DraftQuote, DraftSentence
from agent.text.identifiers import find_codes, find_unmistakable_codes, is_same_code
from agent.text.question_analysis import parse_question
from agent.text.tokens import content_stems
from agent.types import Passage

MAX_PASSAGES = 10
"""Passages that are quoted from, the best ones."""
MAX_WORDS, MAX_SENTENCES = 80, 4
"""What a reply has at most: somebody in a chat wants to know, not to read."""
MAX_REPEATED_SHARE = 0.25
"""A sentence with no larger share of new words says again what was said."""
_ASKS_PRICE = re.compile(
    r"\bhow much (?:is|are|for|(?:do|does|did|will|would)\b.*\b(?:cost|pay|charge))\b|\b(?:price|cost)s? (?:of|for)\b|\bwhat\b.*\b(?:cost|price)s?\b"
    r"|\bwie ?viel kostet\b|\bwas kostet\b|\bvad kostar\b|\bhur mycket kostar\b|\bcombien coûte\b|\bcuánto cuesta\b",
    re.IGNORECASE,
)
_MONEY = re.compile(
    r"[$€£¥₹]|\b(?:euros?|dollars?|pounds?|cents?|crowns?|kronor|kr|francs?|yen|yuan|rupees?|pesos?|usd|eur|gbp|sek|chf|free|gratis|kostenlos|million"
    r"|billion|price[sd]?|costs?)\b",
    re.IGNORECASE,
)


class WritingSentence(DraftSentence):
    """One sentence of the reply and what it stands on."""

    pictures: list[int] = Field(
        default_factory=list, description="numbers of the pictures it rests on; usually empty"
    )


class WritingReply(BaseModel):
    """A reply, or none."""

    model_config = ConfigDict(extra="ignore")

    answer: list[WritingSentence] = Field(
        default_factory=list, description="empty when the sources do not answer"
    )
    missing: str = Field(default="", description="what of the question stays open; empty when nothing does")
    confidence: float = Field(default=0.0, ge=0.0, le=1.0)


def fallback(
    *,
    task: str,
    introduction: str,
    conversation: str,
    question: str,
    asked: str,
    passages: list[Passage],
    likelihood: float,
    pictures: int,
    most: int,
) -> WritingReply:
    """Quoted sentences, or nothing when no heading names the matter and the passages are not likely to
    answer."""
    passages = (
        [passage for passage in passages if _MONEY.search(passage.text)]
        if _ASKS_PRICE.search(asked)
        else passages
    )
    if unknown := _find_unknown_codes(asked, passages):
        return WritingReply(missing=f"Nothing is said of {', '.join(unknown)}.", confidence=likelihood)
    section = (
        (_quote_coded_sections(asked, passages) or quote_best_section(asked, question, passages))
        if passages
        else []
    )
    if not section and likelihood < MIN_ANSWER_PROBABILITY:
        missing = (
            "The chosen sources touch on it at most; none answers it."
            if passages
            else "There is no text to answer from."
        )
        return WritingReply(missing=missing, confidence=likelihood)
    quotes = [
        (found.statement or found.quote, _find_passage_id(found, passages), found.quote) for found in section
    ] or _choose_sentences(asked, passages)
    answer = [
        WritingSentence(text=text, quotes=[DraftQuote(passage_id=home, quote=quote)])
        for text, home, quote in quotes
    ]
    return WritingReply(answer=answer, confidence=max(likelihood, MIN_ANSWER_PROBABILITY))


def _find_unknown_codes(asked: str, passages: Sequence[Passage]) -> list[str]:
    """The codes that are asked about, when the passages speak of none of them: then nothing they say is the
    answer."""
    wanted = find_unmistakable_codes(asked)
    said = (
        {other for passage in passages for other in find_codes(f"{passage.heading} {passage.text}")}
        if wanted
        else set()
    )
    return [] if any(is_same_code(code, other) for code in wanted for other in said) else wanted


def _quote_coded_sections(asked: str, passages: Sequence[Passage]) -> list[Quotation]:
    """The sections whose headings hold the codes that are asked about, in that order; none when none is asked
    about, or none stands there."""
    found: list[Quotation] = []
    for code in find_codes(asked):
        at = (
            section
            for section in group_sections(passages)
            if any(is_same_code(code, other) for other in find_codes(section.heading.split(" › ")[-1]))
        )
        section = next(at, None)
        found += quote_section(parse_question(asked), section) if section else []
    return found


def _choose_sentences(asked: str, passages: Sequence[Passage]) -> list[tuple[str, str, str]]:
    """The sentences that answer best: what each says, its passage, its words. One that says again what was
    said is left out, and so is the head of a table whose rows are told: each of them tells it."""
    best = sorted(passages, key=lambda passage: -passage.score)[:MAX_PASSAGES]
    heads = {(passage.id, passage.heading) for passage in best if passage.rows}
    told: list[tuple[str, str, str]] = []
    said: set[str] = set()
    facts = choose_facts(asked, make_candidate_facts(asked, best), words=MAX_WORDS, sentences=MAX_SENTENCES)
    for fact in [fact for fact in facts if (fact.part, fact.quote) not in heads] or facts:
        words = set(content_stems(fact.quote))
        if not told or len(words - said) > MAX_REPEATED_SHARE * len(words):
            told.append((fact.statement, fact.part, fact.quote))
        said |= words
    return told


def _find_passage_id(found: Quotation, passages: list[Passage]) -> str:
    return next(
        passage.id for passage in passages if passage.page_id == found.page_id and found.quote in passage.text
    )


WRITING = Role(name="writing", reply=WritingReply, fallback=fallback, tier="strong")
