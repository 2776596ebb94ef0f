"""Writes the answer of a chat from passages, with quotes for every sentence, or writes nothing."""

from __future__ import annotations

from pydantic import Field

from agent.retrieval.extractive_answer import quote_answer
from agent.roles.placed_sentence import PassagesReply
from agent.roles.role import Role, Share
from agent.roles.site.draft import DraftSentence, make_sentences
from agent.types import Passage, Turn

MAX_WORDS, MAX_SENTENCES = 120, 6
MIN_SHARE_OF_BEST = 0.6
"""A passage is quoted with at least this share of the best one's score."""


class GenerateReply(PassagesReply):
    """An answer of cited sentences; none when the passages do not answer."""

    answer: list[DraftSentence] = Field(description="empty when the passages do not answer the question")
    confidence: Share = 0.0


def fallback(
    *,
    question: str,
    asked: str,
    history: list[Turn],
    notes: list[str],
    passages: list[Passage],
    caveat: str,
    refused: str,
) -> GenerateReply:
    """The passages that fit best, as quotes; nothing when none holds enough of the question."""
    best = max((passage.score for passage in passages), default=0.0)
    near = [passage for passage in passages if passage.score >= MIN_SHARE_OF_BEST * best]
    quotes = quote_answer(asked, near, best, max_words=MAX_WORDS, max_sentences=MAX_SENTENCES)
    return GenerateReply(answer=make_sentences(quotes), confidence=best)


GENERATE = Role(name="generate", reply=GenerateReply, fallback=fallback, tier="strong")
