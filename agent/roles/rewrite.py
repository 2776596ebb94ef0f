"""Puts a turn of a conversation into a question that stands alone, or a search that failed into other words. Knows turns, no library.

The keyless side first completes the turn; asked for another angle it goes on to the words of the talk it leans on, the bare keywords, the names
and clauses of the question, each only when nothing of the same words was tried before.
"""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import BaseModel, ConfigDict, Field

from agent.roles.role import Role
from agent.text.followup import context, search_query, standalone
from agent.text.leaning import leans
from agent.text.manners import heard
from agent.text.question import keywords, parts, read
from agent.text.words import content_stems
from agent.types import Turn


class RewriteReply(BaseModel):
    """The question in other words."""

    model_config = ConfigDict(extra="ignore")

    query: str = Field(description="one question or search that can be understood without the conversation")
    reasoning: str = Field(default="", description="one short sentence: what was filled in, or what is different now")


def keyless(*, question: str, history: list[Turn], angle: str, tried: list[str]) -> RewriteReply:
    """The first wording that was not tried: as it stands alone when no angle is asked for, wider and then narrower ones after that."""
    history = heard(history)
    full = standalone(question, history)
    if not angle and not _among(full, tried):
        filled = "What it left out is taken from the conversation." if full != question else "It stands alone."
        return RewriteReply(query=full, reasoning=filled)
    for query, why in _wordings(question, full, history if full != question or leans(question) else []):
        if query.strip() and not _among(query, tried):
            return RewriteReply(query=query, reasoning=why)
    return RewriteReply(query=_shortened(full, tried), reasoning="Everything else was tried; this asks for less.")


def _wordings(question: str, full: str, history: list[Turn]) -> Iterator[tuple[str, str]]:
    yield full, "The question as it stands alone."
    if history:
        yield search_query(question, history), "With more words of what the conversation is about."
    yield keywords(full), "Only its weighty words."
    asked = read(full)
    if asked.names:
        yield " ".join(asked.names), "Only the names in it."
    for part in parts(full):
        yield part, "A part of it."
    if around := context(question, history):
        yield " ".join(around), "What the conversation is about."
    for turn in reversed(history):
        yield f"{turn.user} {question}", "With the words of an earlier turn."


def _among(query: str, tried: list[str]) -> bool:
    """Would this look for the same words as something that was tried?"""
    return any(set(content_stems(query)) == set(content_stems(former)) for former in tried)


def _shortened(full: str, tried: list[str]) -> str:
    """The question with words left off at its end, then at its beginning, until it is new; as it is when nothing is."""
    words = full.split()
    for shorter in (*(words[:n] for n in range(len(words) - 1, 0, -1)), *(words[n:] for n in range(1, len(words)))):
        if not _among(" ".join(shorter), tried):
            return " ".join(shorter)
    return full


REWRITE = Role(name="rewrite", reply=RewriteReply, keyless=keyless, tier="fast")
