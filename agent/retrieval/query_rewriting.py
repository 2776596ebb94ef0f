"""What to search for: the question alone, the clauses of a compound one, and in a conversation the question
together with the previous one.

Callers search for both texts and fuse the rankings (`rank_fusion`). No rule rewrites a question: without a
model it is read as it was typed; with a model the role `rewrite` writes a standalone question."""

from __future__ import annotations

from collections.abc import Sequence

from agent.text.question_parts import complete_parts, split_compound_question
from agent.types import Turn


def build_search_texts(question: str, turns: Sequence[Turn]) -> list[str]:
    """The texts to search for: the question, and after earlier turns also the previous question followed by
    this one."""
    return [question, f"{turns[-1].user} {question}"] if turns else [question]


def list_clauses(question: str) -> list[str]:
    """What each clause of a compound question is searched by: together, one pushes the other out of the best
    passages; the question itself where it has one clause."""
    clauses = split_compound_question(question)
    return complete_parts(clauses) if len(clauses) > 1 else [question]
