"""Puts a turn of a conversation into a question that stands alone, or a search that failed into other words.
Knows turns, no library.

The fallback returns the turn as it was typed. Asked for another angle it proposes the turn together with an
earlier one, the bare keywords, and the clauses of a question of several, each only when nothing of the same
words was tried before. The question's names, figures and rarer words are in each of them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pydantic import BaseModel, ConfigDict, Field

from agent.retrieval.query_rewriting import build_search_texts
from agent.roles.role import Role
from agent.text.dialogue_acts import has_question_opening
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
    """The question itself when no other angle is asked for, else the first wording that was not tried."""
    if not angle and not _was_tried(question, tried):
        return RewriteReply(query=question, reasoning="The question as it was typed.")
    for query, why in _propose_queries(question, history):
        if query.strip() and not _was_tried(query, tried):
            return RewriteReply(query=query, reasoning=why)
    return RewriteReply(query=question, reasoning="There are no other words that still ask for all of it.")


def _propose_queries(question: str, history: list[Turn]) -> Iterator[tuple[str, str]]:
    yield question, "The question as it was typed."
    if history:
        yield build_search_texts(question, history)[-1], "Together with the previous question."
    yield _drop_faint_words(question), "Only its telling words."
    for clause in _split_clauses(question):
        yield clause, "A part of it."
    for turn in reversed(history):
        if turn.answered:
            yield f"{turn.user} {question}", "Together with an earlier question."


def _drop_faint_words(question: str) -> str:
    """The keywords without those too common to say much."""
    weights = parse_question(question).weights
    faint = {word for word, weight in weights.items() if weight <= COMMON_WORD_WEIGHT}
    return " ".join(
        word
        for word in extract_keywords(question).split()
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
