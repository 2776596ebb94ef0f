"""Writes the reply to a question from the chosen sources, or nothing."""

from __future__ import annotations

from pydantic import Field

from agent.retrieval.answer import find_answer
from agent.roles.placed_sentence import PassagesReply
from agent.roles.role import Role, Share
from agent.roles.site.draft import DraftSentence, best_fit, find_open_parts, make_sentences
from agent.types import Passage


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
    """The passages that fit best, as quotes; nothing when none fits."""
    found = find_answer(asked, passages).keep_parts_of(question)
    last = question.rstrip().split("\n")[-1]  # several messages may be asked at once; the last one asks
    if found.is_refusal and last != question:
        found = find_answer(last, passages)
    if not found.is_refusal:
        answer = [
            WritingSentence(text=sentence.text, quotes=sentence.quotes, **sentence.placement)
            for sentence in make_sentences(found)
        ]
        return WritingReply(answer=answer, not_found=find_open_parts(found), confidence=best_fit(found))
    missing = [term for part in found.parts for term in part.missing]
    return WritingReply(
        missing=f"The sources do not contain {', '.join(missing)}."
        if missing
        else "No source fits the question well enough."
        if passages
        else "There is no text to answer from.",
        confidence=best_fit(found),
    )


WRITING = Role(name="writing", reply=WritingReply, fallback=fallback, tier="strong")
