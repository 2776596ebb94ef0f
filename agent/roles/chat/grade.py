"""How relevant is each passage to the question? All of them in one batch, a score and a reason each. Knows no
search.

The scores given are counted by code: the share of the question's weight that a passage holds. The keyless
side takes them as they are."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from agent.roles.role import Role
from agent.types import Passage

MIN_RELEVANT_SCORE = 0.5
"""The score from which a passage counts as relevant."""


class PassageGrade(BaseModel):
    """The verdict on one passage."""

    model_config = ConfigDict(extra="ignore")

    passage_id: str
    score: float = Field(
        ge=0.0, le=1.0, description="0 nothing to do with it, 0.5 helps to answer, 1 answers it"
    )
    reason: str = ""


class GradeReply(BaseModel):
    """One verdict for each passage."""

    model_config = ConfigDict(extra="ignore")

    grades: list[PassageGrade]


def fallback(*, question: str, passages: list[Passage]) -> GradeReply:
    """The share of the question's words that stand in the passage, rare ones weighing most."""
    return GradeReply(
        grades=[
            PassageGrade(
                passage_id=passage.id,
                score=passage.score,
                reason=f"It holds {passage.score:.0%} of what the question's words weigh.",
            )
            for passage in passages
        ]
    )


GRADE = Role(name="grade", reply=GradeReply, fallback=fallback, tier="fast")
