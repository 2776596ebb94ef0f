"""Writes the summary of a full report from its checked sentences."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from agent.roles.research.report import ReportSentence
from agent.roles.role import Role, RoleReply
from agent.types import Sentence

FALLBACK_SENTENCES = 2
"""Sentences that a summary without a model repeats."""


class SummaryReply(RoleReply):
    """The summary; its first sentence answers the question."""

    sentences: list[ReportSentence] = Field(default_factory=list)


def fallback(*, question: str, notes: list[str], sentences: Sequence[Sentence]) -> SummaryReply:
    """The first sentences of the report."""
    first = sentences[:FALLBACK_SENTENCES]
    return SummaryReply(sentences=[ReportSentence(text=s.claim, fact_ids=s.fact_ids) for s in first])


SUMMARY = Role(name="summary", reply=SummaryReply, fallback=fallback, tier="strong", cut=("sentences",))
