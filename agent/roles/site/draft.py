"""Writes the answer to a question about a site from its pages, or refuses it politely. Knows passages, not
where they came from."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from agent.retrieval.extractive_answer import quote_answer, score_relevance
from agent.retrieval.query_rewriting import build_search_texts
from agent.retrieval.quotation import Quotation
from agent.retrieval.relevance import page_texts, weigh_by_pages
from agent.retrieval.term_coverage import best_share, find_unseen_terms
from agent.roles.answer_length import parse_length_request
from agent.roles.placed_sentence import PassagesReply, PlacedSentence
from agent.roles.refusal_messages import is_unresolved_reference, refuse
from agent.roles.role import Role, RoleReply, Share
from agent.text.question_analysis import parse_question
from agent.types import Passage, Turn

MAX_WORDS, MAX_SENTENCES = 110, 4


class DraftQuote(RoleReply):
    """Verbatim words of one passage."""

    passage_id: str
    quote: str = Field(description="copied character by character from that passage")


class DraftSentence(PlacedSentence):
    """One sentence of the answer and the words of the pages that state it."""

    text: str
    quotes: list[DraftQuote] = Field(default_factory=list)


class DraftReply(PassagesReply):
    """An answer, or a refusal with a polite message."""

    refusal: Literal["none", "off_topic", "not_covered", "needs_clarification"] = "none"
    answer: list[DraftSentence] = Field(default_factory=list, description="empty when refusing")
    message: str = Field(
        default="",
        description="when refusing: one or two polite sentences to the person, or the question to ask back",
    )
    confidence: Share = 0.0


def make_sentences(quotes: list[Quotation]) -> list[DraftSentence]:
    """Quotations as sentences of an answer."""
    return [
        DraftSentence(
            text=found.statement or found.quote,
            quotes=[DraftQuote(passage_id=found.passage_id, quote=found.quote)],
        )
        for found in quotes
    ]


def fallback(
    *,
    question: str,
    asked: str,
    history: list[Turn],
    instruction: str,
    notes: list[str],
    reasoning: str,
    passages: list[Passage],
    site: str,
    forced: str,
    former: str,
) -> DraftReply:
    """The passages that fit the newest note or the question best, as quotes; a refusal when none fits."""
    texts = [f"{passage.title} {passage.heading} {passage.text}" for passage in passages]
    vague = asked == question and is_unresolved_reference(question)
    whole = build_search_texts(question, history)[-1] if vague else asked
    most = parse_length_request(instruction).max_sentences
    for wanted in [*notes[-1:], " ".join([whole, *notes])] if history or not vague else []:
        relevance = score_relevance(wanted, passages)
        if quotes := _quote(wanted, passages, texts):
            return DraftReply(answer=make_sentences(quotes[: most or None]), confidence=relevance)
    refusal, message = refuse(question, history, texts, find_unseen_terms(question, texts), site)
    return DraftReply(refusal=refusal, message=message)


def _quote(wanted: str, passages: list[Passage], texts: list[str]) -> list[Quotation]:
    parsed = weigh_by_pages(parse_question(wanted), page_texts(passages))
    share = best_share(parsed, zip((passage.page_id for passage in passages), texts, strict=True))
    return quote_answer(wanted, passages, share, max_words=MAX_WORDS, max_sentences=MAX_SENTENCES)


DRAFT = Role(name="draft", reply=DraftReply, fallback=fallback, tier="strong")
