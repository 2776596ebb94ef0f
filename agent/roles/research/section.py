"""Writes one section of a full report from its facts."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from agent.evidence.citation_check import state_with_subject
from agent.roles.research.report import ReportBlock, ReportSentence
from agent.roles.role import Role, RoleReply
from agent.types import Conflict, Fact
from agent.types.answers import SectionForm


class SectionReply(RoleReply):
    """The blocks of a section, without its heading."""

    blocks: list[ReportBlock] = Field(
        default_factory=list, description="empty when the facts say nothing on it"
    )


def fallback(
    *,
    question: str,
    notes: list[str],
    outline: list[str],
    heading: str,
    asked: str,
    form: SectionForm,
    facts: Sequence[Fact],
    conflicts: Sequence[Conflict],
    words: str = "",
) -> SectionReply:
    """The statements of the facts as a list."""
    said = [
        ReportSentence(text=state_with_subject(fact), fact_ids=[fact.id])
        for fact in facts
        if fact.can_support
    ]
    return SectionReply(blocks=[ReportBlock(kind="list", sentences=said)] if said else [])


SECTION = Role(
    name="section", reply=SectionReply, fallback=fallback, tier="strong", cut=("facts", "conflicts")
)
