"""Puts a turn of a conversation into a question that stands alone, or a search that failed into other words.
Knows turns, no library."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from agent.retrieval.query_rewriting import build_search_texts
from agent.roles.role import Role, RoleReply
from agent.text.question_analysis import COMMON_WORD_WEIGHT, extract_keywords, parse_question
from agent.text.tokens import content_stems, stem
from agent.types import Turn


class RewriteReply(RoleReply):
    """The question in other words."""

    query: str = Field(description="one question or search that can be understood without the conversation")
    reasoning: str = Field(
        default="", description="one short sentence: what was filled in, or what is different now"
    )


def fallback(*, question: str, history: list[Turn], angle: str, tried: list[str]) -> RewriteReply:
    """The first wording of which no other order was tried: the turn, with an earlier one, its keywords."""
    former = {frozenset(content_stems(query)) for query in tried}
    for query, why in _propose_queries(question, history):
        if query.strip() and frozenset(content_stems(query)) not in former:
            return RewriteReply(query=query, reasoning=why)
    return RewriteReply(query=question, reasoning="There are no other words that still ask for all of it.")


def _propose_queries(question: str, history: list[Turn]) -> Iterator[tuple[str, str]]:
    yield question, "The question as it was typed."
    if history:
        yield build_search_texts(question, history)[-1], "Together with the previous question."
    weights = parse_question(question).weights
    keywords = extract_keywords(question).split()
    rare = [word for word in keywords if weights.get(stem(word.casefold()), 1.0) > COMMON_WORD_WEIGHT]
    yield " ".join(rare), "Only its telling words."
    for turn in reversed(history):
        if turn.answered:
            yield f"{turn.user} {question}", "Together with an earlier question."


REWRITE = Role(name="rewrite", reply=RewriteReply, fallback=fallback, tier="fast")
