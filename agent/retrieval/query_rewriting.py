"""What to search for when a question continues a conversation: the question alone, and the question together
with the previous one.

Callers search for both texts and fuse the rankings (`rank_fusion`). No rule rewrites a question: without a
model it is read as it was typed; with a model the role `rewrite` writes a standalone question."""

from __future__ import annotations

from collections.abc import Sequence

from agent.types import Turn


def build_search_texts(question: str, turns: Sequence[Turn]) -> list[str]:
    """The texts to search for: the question, and after earlier turns also the previous question followed by
    this one."""
    return [question, f"{turns[-1].user} {question}"] if turns else [question]
