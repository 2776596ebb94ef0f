"""Splits a question into parts before anything is searched, and says where it can be read in two ways."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from agent.roles.role import Role, RoleReply
from agent.text.question_parts import resolve_parts, split_compound_question
from agent.types import Actor, PlanPart, Turn

MAX_PARTS = 8
MAX_READINGS = 4


class PlannedPart(RoleReply):
    """One sub-question."""

    question: str = Field(description="one question that stands alone")
    after: list[int] = Field(
        default_factory=list, description="numbers of the parts, from 1, whose answers it needs"
    )
    answered_by: str = Field(default="", description="what would count as an answer, in a few words")
    where: str = Field(default="", description="where to look, in a few words")


class PlanReply(RoleReply):
    """The plan, and where the question can mean different things a question to the person."""

    parts: list[PlannedPart] = Field(default_factory=list, description="one to eight, in order")
    ask: str = Field(default="", description="a question to the person; empty unless meanings differ")
    readings: list[str] = Field(
        default_factory=list, description="the meanings that `ask` is about, the likeliest first"
    )

    def to_parts(self, question: str, by: Actor) -> list[PlanPart]:
        """The parts as the run keeps them, numbered from "1"; the question itself where there is none. A part
        depends only on parts before it, so that no two wait for each other."""
        asked = [part for part in self.parts if part.question.strip()][:MAX_PARTS]
        if not asked:
            return [PlanPart(id="1", question=question.strip(), by=by)]
        return [
            PlanPart(
                id=str(n),
                question=" ".join(part.question.split()),
                after=[str(k) for k in dict.fromkeys(part.after) if 0 < k < n],
                answered_by=" ".join(part.answered_by.split()),
                where=" ".join(part.where.split()),
                by=by,
            )
            for n, part in enumerate(asked, 1)
        ]

    @property
    def choices(self) -> list[str]:
        """The different readings; none when there is nothing to choose or to ask."""
        named = list(dict.fromkeys(" ".join(reading.split()) for reading in self.readings if reading.strip()))
        return named[:MAX_READINGS] if self.ask.strip() and len(named) > 1 else []


def fallback(
    *,
    question: str,
    notes: Sequence[str] = (),
    history: Sequence[Turn] = (),
    engines: Sequence[str] = (),
    report: str = "standard",
    today: str = "",
) -> PlanReply:
    """The clauses of a compound question that ask something, with what they plainly refer to."""
    parts = resolve_parts(split_compound_question(question))
    return PlanReply(parts=[PlannedPart(question=part) for part in parts])


PLAN = Role(name="plan", reply=PlanReply, fallback=fallback, tier="strong")
