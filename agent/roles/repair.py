"""Rewrites the sentences of a draft that their quotes do not support: they then say what the quotes say."""

from __future__ import annotations

from pydantic import Field

from agent.roles.check_claims import QuoteShown
from agent.roles.role import Role, RoleReply
from agent.types import Record


class FailedSentence(Record):
    """A sentence that failed its check: the ids of the quotes it cites, and what is wrong with it."""

    n: int
    text: str
    quotes: list[str] = Field(default_factory=list)
    faults: list[str] = Field(default_factory=list)


class RepairedSentence(RoleReply):
    """The sentence in new words."""

    n: int = Field(description="the number of the sentence")
    quotes: list[str] = Field(
        default_factory=list, description='ids of the quotes that state it, such as "q2"'
    )
    text: str = Field(description="the corrected sentence; empty when it has to go")


class RepairReply(RoleReply):
    """The repaired sentences; one that is not named stays as it is."""

    sentences: list[RepairedSentence] = Field(default_factory=list)


def fallback(
    *, question: str, text: str, quotes: list[QuoteShown], sentences: list[FailedSentence]
) -> RepairReply:
    """Nothing is repaired without a model."""
    return RepairReply()


REPAIR = Role(
    name="repair", reply=RepairReply, fallback=fallback, tier="strong", cut=("text", "quotes", "sentences")
)
