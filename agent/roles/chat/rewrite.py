"""Puts a turn of a conversation into a question that stands alone, or a search that failed into other words.
Knows turns, no library.

The keyless side first completes the turn; asked for another angle it goes on to more words of the talk it
leans on, the bare keywords and the clauses of a question of several, each only when nothing of the same words
was tried before. What carries the question (its names, figures and rarer words) stands in each of them: a
search for less finds what was not asked."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pydantic import BaseModel, ConfigDict, Field

from agent.roles.role import Role
from agent.text.dialogue_acts import blank_unanswered_replies, has_question_opening
from agent.text.followup import context, search_query, standalone
from agent.text.leaning import leans
from agent.text.question_analysis import COMMON_WORD_WEIGHT, extract_keywords, parse_question
from agent.text.tokens import content_stems
from agent.types import Turn

_CLAUSE_BREAK = re.compile(r"[,;?.]?\s+(?:and|or|but)\s+|[;?]\s*", re.IGNORECASE)
"""Where one clause that asks may end and the next begin."""


class RewriteReply(BaseModel):
    """The question in other words."""

    model_config = ConfigDict(extra="ignore")

    query: str = Field(description="one question or search that can be understood without the conversation")
    reasoning: str = Field(
        default="", description="one short sentence: what was filled in, or what is different now"
    )


def fallback(*, question: str, history: list[Turn], angle: str, tried: list[str]) -> RewriteReply:
    """The first wording that was not tried: as it stands alone when no angle is asked for, wider and then
    narrower ones after that."""
    history = blank_unanswered_replies(history)
    full = standalone(question, history)
    if not angle and not _was_tried(full, tried):
        filled = (
            "What it left out is taken from the conversation." if full != question else "It stands alone."
        )
        return RewriteReply(query=full, reasoning=filled)
    for query, why in _propose_queries(
        question, full, history if full != question or leans(question) else []
    ):
        if query.strip() and not _was_tried(query, tried):
            return RewriteReply(query=query, reasoning=why)
    return RewriteReply(query=full, reasoning="There are no other words that still ask for all of it.")


def _propose_queries(question: str, full: str, history: list[Turn]) -> Iterator[tuple[str, str]]:
    yield full, "The question as it stands alone."
    if history:
        yield search_query(question, history), "With more words of what the conversation is about."
    yield _drop_faint_words(question, full), "Only its weighty words."
    for clause in _split_clauses(full):
        yield clause, "A part of it."
    if around := context(full, history):
        yield " ".join([extract_keywords(full), *around]), "With the last words of the conversation."
    for turn in reversed(history):
        if turn.answered:
            yield f"{turn.user} {question}", "With the words of an earlier turn."


def _drop_faint_words(question: str, full: str) -> str:
    """The keywords without those too common to say much; a turn that was made whole keeps all that was
    typed."""
    weights, typed = parse_question(full).weights, set(content_stems(question)) if full != question else set()
    faint = {word for word, weight in weights.items() if weight <= COMMON_WORD_WEIGHT and word not in typed}
    return " ".join(
        word
        for word in extract_keywords(full).split()
        if not content_stems(word) or not faint.issuperset(content_stems(word))
    )


def _split_clauses(full: str) -> list[str]:
    """The clauses of a question of several, each with the names and figures of the whole that it lacks."""
    asking = [
        part.strip()
        for part in _CLAUSE_BREAK.split(full)
        if has_question_opening(part) and len(content_stems(part)) > 1
    ]
    whole = parse_question(full)
    figures = [word for word in content_stems(full) if word.isdigit()]
    lent = [*whole.names, *(figure for figure in figures if not any(figure in name for name in whole.names))]
    return (
        [" ".join([part, *(word for word in lent if word not in part)]) for part in asking]
        if len(asking) > 1
        else []
    )


def _was_tried(query: str, tried: list[str]) -> bool:
    """Would this look for the same words as something that was tried?"""
    return any(set(content_stems(query)) == set(content_stems(former)) for former in tried)


REWRITE = Role(name="rewrite", reply=RewriteReply, fallback=fallback, tier="fast")
