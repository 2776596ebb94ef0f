"""Writes the answer to a question about a site from passages of its pages, or refuses it politely."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from agent.retrieval.answer import PassageAnswer, find_answer
from agent.retrieval.query_rewriting import build_search_texts
from agent.retrieval.quotation import Quotation
from agent.retrieval.term_coverage import find_unseen_terms
from agent.roles.answer_length import parse_length_request
from agent.roles.placed_sentence import PassagesReply, PlacedSentence
from agent.roles.refusal_messages import is_unresolved_reference, refuse
from agent.roles.role import Role, RoleReply, Share
from agent.types import Passage, Turn
from agent.types.answers import SentencePlace


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


def make_sentences(found: PassageAnswer) -> list[DraftSentence]:
    """An answer of passages as sentences: for each part its lead, the passages below it, and the others."""
    sentences = []
    for part in found.parts:
        asked = part.question if len(found.parts) > 1 else ""
        if part.lead:
            sentences.append(_place(part.lead, "lead", asked).model_copy(update={"fit": part.fit}))
        sentences += [_place(quote, "passage", asked) for quote in part.passages]
        sentences += [_place(quote, "other", asked) for quote in part.others]
    return sentences


def _place(found: Quotation, place: SentencePlace, asked: str) -> DraftSentence:
    return DraftSentence(
        text=found.statement or found.quote,
        quotes=[DraftQuote(passage_id=found.passage_id, quote=found.quote)],
        place=place,
        heading=found.heading,
        part_question=asked,
    )


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
        found = find_answer(wanted, passages).keep_parts_of(" ".join([question, *notes]))
        if not found.is_refusal:
            return DraftReply(
                answer=make_sentences(found)[: most or None],
                not_found=find_open_parts(found),
                confidence=best_fit(found),
            )
    missing = [term for part in found.parts for term in part.missing] if passages and not vague else []
    unseen = missing or find_unseen_terms(question, texts)
    refusal, message = refuse(question, history, texts, unseen, site)
    return DraftReply(refusal=refusal, message=message)


def find_open_parts(found: PassageAnswer) -> list[str]:
    """The parts of a compound question that no passage answers."""
    return [part.question for part in found.parts if not part.lead]


def best_fit(found: PassageAnswer) -> float:
    """The fit of the part that fits best."""
    return max((part.fit for part in found.parts), default=0.0)


DRAFT = Role(
    name="draft", reply=DraftReply, fallback=fallback, tier="strong", cut=("passages", "history", "former")
)
