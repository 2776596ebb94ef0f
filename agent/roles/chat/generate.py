"""Writes the answer of a chat from passages, with quotes for every sentence, or writes nothing."""

from __future__ import annotations

from pydantic import Field

from agent.retrieval.answer import find_answer
from agent.roles.placed_sentence import PassagesReply
from agent.roles.role import Role, Share
from agent.roles.site.draft import DraftSentence, best_fit, find_open_parts, make_sentences
from agent.types import Passage, Turn


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
    """The passages that fit best, as quotes; nothing when none fits."""
    found = find_answer(asked, passages).keep_parts_of(question)
    return GenerateReply(
        answer=make_sentences(found), not_found=find_open_parts(found), confidence=best_fit(found)
    )


GENERATE = Role(
    name="generate", reply=GenerateReply, fallback=fallback, tier="strong", cut=("passages", "history")
)
