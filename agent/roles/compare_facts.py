"""Judges what the two sides of a conflict are to each other: all open conflicts that nobody ruled on, in one
call before the write-up. The fallback rules on nothing."""

from __future__ import annotations

from pydantic import Field

from agent.roles.research.analyzer import ConflictRuling
from agent.roles.role import Role, RoleReply
from agent.types import Conflict, Fact


class CompareFactsReply(RoleReply):
    """A ruling on each conflict."""

    conflicts: list[ConflictRuling] = Field(default_factory=list)


def fallback(*, question: str, conflicts: list[Conflict], facts: list[Fact]) -> CompareFactsReply:
    """No rulings: meaning is not judged without a model."""
    return CompareFactsReply()


COMPARE_FACTS = Role(
    name="compare_facts", reply=CompareFactsReply, fallback=fallback, tier="fast", cut=("conflicts",)
)
