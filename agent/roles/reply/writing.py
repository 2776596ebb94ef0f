"""Writes the reply to a question from the chosen sources, or nothing."""

from __future__ import annotations

from pydantic import Field

from agent.retrieval.extractive_answer import (
    find_unknown_codes,
    quote_answer,
    quote_section,
    select_coded_passages,
)
from agent.retrieval.term_coverage import best_share
from agent.roles.placed_sentence import PassagesReply
from agent.roles.role import Role, Share
from agent.roles.site.draft import DraftSentence, make_sentences
from agent.text.question_analysis import parse_question
from agent.types import Passage

MAX_WORDS, MAX_SENTENCES = 80, 4
"""The most a reply without a model has."""


class WritingSentence(DraftSentence):
    """One sentence of the reply and the words that state it."""

    pictures: list[int] = Field(
        default_factory=list, description="numbers of the pictures it rests on; usually empty"
    )


class WritingReply(PassagesReply):
    """A reply, or none."""

    answer: list[WritingSentence] = Field(
        default_factory=list, description="empty when the sources do not answer"
    )
    missing: str = Field(default="", description="what of the question stays open; empty when nothing does")
    confidence: Share = 0.0


def fallback(
    *,
    task: str,
    introduction: str,
    conversation: str,
    question: str,
    asked: str,
    passages: list[Passage],
    pictures: int,
    most: int,
) -> WritingReply:
    """The passages that fit best, as quotes; nothing when none holds enough of the question."""
    best = max((passage.score for passage in passages), default=0.0)
    quotes = quote_section(asked, select_coded_passages(asked, passages), MAX_WORDS) or quote_answer(
        asked, passages, best, max_words=MAX_WORDS, max_sentences=MAX_SENTENCES
    )
    last = question.rstrip().split("\n")[-1]  # several messages may be asked at once; the last one asks
    if not quotes and last != question:
        share = best_share(parse_question(last), ((passage.id, passage.text) for passage in passages))
        quotes = quote_answer(last, passages, share, max_words=MAX_WORDS, max_sentences=MAX_SENTENCES)
    if quotes:
        sentences = make_sentences(quotes)
        answer = [WritingSentence(text=sentence.text, quotes=sentence.quotes) for sentence in sentences]
        return WritingReply(answer=answer, confidence=best)
    if unknown := find_unknown_codes(asked, passages):
        missing = f"The sources do not contain {', '.join(unknown)}."
    else:
        missing = (
            "No source holds enough of the question." if passages else "There is no text to answer from."
        )
    return WritingReply(missing=missing, confidence=best)


WRITING = Role(name="writing", reply=WritingReply, fallback=fallback, tier="strong")
