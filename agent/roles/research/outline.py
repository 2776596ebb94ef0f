"""Makes the outline of a full report: sections, each with the facts that it alone may use."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from agent.evidence.answer_layout import format_question
from agent.evidence.report_words import words_for
from agent.roles.role import Role, RoleReply
from agent.types import Fact, PlanPart
from agent.types.answers import SectionForm

MAX_SECTIONS = 8


class PlannedSection(RoleReply):
    """A section: its heading, the part it answers, its form, and its facts."""

    heading: str = Field(description="a few words, no statement")
    part: str = Field(
        default="", description='the number of the part it answers, such as "2"; "" for several'
    )
    form: SectionForm = Field(default="prose", description="table where things are compared by like features")
    fact_ids: list[str] = Field(default_factory=list, description="each fact in one section only")


class OutlineReply(RoleReply):
    """The outline of a report."""

    title: str = Field(default="", description="of the report: its topic in a few words, no statement")
    sections: list[PlannedSection] = Field(default_factory=list)


def fallback(
    *, question: str, notes: list[str], parts: Sequence[PlanPart], facts: Sequence[Fact], former: str
) -> OutlineReply:
    """A section for each part of the plan with the facts found for it; what belongs to none comes last."""
    by_part: dict[str, list[str]] = {part.id: [] for part in parts}
    rest = [fact.id for fact in facts if fact.part not in by_part]
    for fact in facts:
        by_part.get(fact.part, []).append(fact.id)
    found = [(format_question(part.question), part.id, by_part[part.id]) for part in parts]
    sections = [
        PlannedSection(heading=heading, part=part, fact_ids=ids)
        for heading, part, ids in [*found, (words_for(question)["further_findings"], "", rest)]
        if ids
    ]
    return OutlineReply(title=format_question(question), sections=sections)


OUTLINE = Role(name="outline", reply=OutlineReply, fallback=fallback, tier="strong", cut=("facts", "former"))
