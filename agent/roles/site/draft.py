"""Writes the answer to a question about a site from its pages, or refuses it politely. Knows passages, not
where they came from.

The keyless side quotes: a section whose heading names the matter, from its start; else the sentences that
bear most on the question, with those that follow them. It refuses when the best of them does not answer well,
and says what kind of refusal it is."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from agent.retrieval.excerpts import choose_quotes, find_unanswered_words
from agent.retrieval.extractive_answer import (
    Quotation,
    choose_asking_text,
    collect_page_words,
    find_passage_subjects,
    find_uncovered_words,
    score_relevance,
)
from agent.retrieval.query_rewriting import build_search_texts
from agent.retrieval.required_terms import find_required_terms, restore_spelling
from agent.roles.answer_length import parse_length_request
from agent.roles.refusal_messages import (
    classify_refusal,
    is_other_language,
    is_unresolved_reference,
    write_refusal,
)
from agent.roles.role import Role
from agent.text.tokens import stem, stem_prefix
from agent.text.word_lists import STOPWORDS
from agent.types import Passage, Turn

MIN_RELEVANCE = 0.25
"""The least bearing of the best evidence that is an answer. Chosen where refusing the unanswerable and
answering the rest balance."""

DraftRefusal = Literal["none", "off_topic", "not_covered", "needs_clarification"]


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

    refusal: DraftRefusal = "none"
    answer: list[DraftSentence] = Field(default_factory=list, description="empty when refusing")
    message: str = Field(
        default="",
        description="when refusing: one or two polite sentences to the person, or the question to ask back",
    )
    missing: str = Field(
        default="", description="what was asked for and is not on the pages; empty when nothing"
    )
    confidence: float = Field(default=0.0, ge=0.0, le=1.0)


def fallback(
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
    whole = asked if asked != question else build_search_texts(question, history)[-1]
    wanted = " ".join([whole, *notes])
    own = notes[-1] if notes else question
    about = find_passage_subjects(passages)
    level = round(score_relevance(wanted, own, passages, about), 4) if passages else 0.0
    unclear = not history and is_unresolved_reference(question)
    asking = choose_asking_text(wanted, own)
    lacking = [] if unclear else find_uncovered_words(asking, passages, about)
    quotes = (
        [] if unclear or lacking or level < MIN_RELEVANCE else choose_quotes(wanted, own, passages, about)
    )
    lacking = lacking or find_unanswered_words(asking, quotes, passages, about)
    if not quotes or lacking:
        other = is_other_language(question, [passage.text for passage in passages])
        kind = classify_refusal(question, asked, history, strange, other_language=other)
        told = write_refusal(
            kind,
            site,
            restore_spelling(f"{question} {asked}", strange if kind == "off_topic" else lacking),
            other_language=other,
        )
        return DraftReply(
            refusal=kind,
            message=told,
            missing="" if unclear else ", ".join(dict.fromkeys([*lacking, *strange])),
            confidence=level,
        )
    open_ = _find_unknown_words(question, strange, passages)
    answer = [
        DraftSentence(
            text=quote.statement or quote.quote,
            quotes=[DraftQuote(passage_id=_find_passage_id(quote, passages), quote=quote.quote)],
        )
        for quote in quotes[: parse_length_request(instruction).max_sentences or None]
    ]
    return DraftReply(
        answer=answer,
        missing=f"Not found on the site: {', '.join(open_)}." if open_ else "",
        confidence=level,
    )


def _find_unknown_words(question: str, strange: list[str], passages: list[Passage]) -> list[str]:
    """The question's telling words that stand nowhere on the site, and no kindred word of theirs in the pages
    read."""
    known, asks = frozenset().union(*collect_page_words(passages)), find_required_terms(question)
    return [
        word
        for word in strange
        if word not in STOPWORDS
        and stem_prefix(stem(word)) in asks.words
        and not asks.is_term_met(stem_prefix(stem(word)), known)
    ]


def _find_passage_id(found: Quotation, passages: list[Passage]) -> str:
    return next(
        passage.id for passage in passages if passage.page_id == found.page_id and found.quote in passage.text
    )


DRAFT = Role(name="draft", reply=DraftReply, fallback=fallback, tier="strong")
