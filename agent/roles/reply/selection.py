"""Chooses from the library's index the sources that are loaded for an answer. Knows entries of the index, not
the texts behind them."""

from __future__ import annotations

from pydantic import Field

from agent.roles.role import Role, RoleReply
from agent.types import IndexEntry

MIN_SHARE_OF_BEST = 0.35
"""A source is chosen with at least this share of the best one's score."""


class SelectionReply(RoleReply):
    """The chosen sources, best first."""

    selected_source_ids: list[str] = Field(
        default_factory=list, description="ids of the index, the best first; empty when none fits"
    )
    reasoning: str = Field(default="", description="one short sentence")


def fallback(
    *,
    task: str,
    introduction: str,
    conversation: str,
    question: str,
    index: list[IndexEntry],
    by_words: dict[str, float],
    most: int,
) -> SelectionReply:
    """The sources whose texts hold most of the question's words (`by_words`)."""
    known = {entry.source_id for entry in index}
    ranked = sorted(((name, by_words[name]) for name in by_words if name in known), key=lambda pair: -pair[1])
    chosen = [name for name, score in ranked if score >= MIN_SHARE_OF_BEST * ranked[0][1]][:most]
    if not chosen:
        return SelectionReply(reasoning="No source holds words of the question.")
    reason = f"{len(chosen)} of {len(index)} sources hold most of the question's words."
    return SelectionReply(selected_source_ids=chosen, reasoning=reason)


SELECTION = Role(name="selection", reply=SelectionReply, fallback=fallback, tier="strong")
