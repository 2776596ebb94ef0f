"""Chooses from the library's index what is loaded for an answer. Knows entries of the index, not the texts
behind them.

The keyless side takes the sources whose text holds the words of the question (that ranking is given), as long
as they come near the best."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from agent.roles.role import Role
from agent.types import IndexEntry

MIN_SHARE_OF_BEST = 0.35
"""A source is chosen that the question's words bear on at least this much, measured by the best one."""


class SelectionReply(BaseModel):
    """The chosen sources, best first."""

    model_config = ConfigDict(extra="ignore")

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
    """The first of the sources that hold the question's words."""
    there = {entry.source_id for entry in index}
    ranked = sorted(
        ((score, name) for name, score in by_words.items() if name in there), key=lambda pair: -pair[0]
    )
    chosen = [name for score, name in ranked if score >= MIN_SHARE_OF_BEST * ranked[0][0]][:most]
    told = (
        "No source holds words of the question."
        if not chosen
        else f"{len(chosen)} of {len(index)} sources hold most of the question's words."
    )
    return SelectionReply(selected_source_ids=chosen, reasoning=told)


SELECTION = Role(name="selection", reply=SelectionReply, fallback=fallback, tier="strong")
