"""Scores how relevant each passage is to the question, all in one batch: to grade them (GRADE), or to put
them in order (RERANK, the simple chat)."""

from __future__ import annotations

from pydantic import Field

from agent.roles.role import Role, RoleReply
from agent.types import Passage

MIN_RELEVANT_SCORE = 0.5
"""The score from which a passage counts as relevant."""


class PassageGrade(RoleReply):
    """The verdict on one passage."""

    passage_id: str
    score: float = Field(
        ge=0.0, le=1.0, description="0 nothing to do with it, 0.5 helps to answer, 1 answers it"
    )
    reason: str = Field(default="", description="a few words")
    answers_alone: bool = Field(
        default=False, description="true only when this passage by itself states the whole answer"
    )


class GradeReply(RoleReply):
    """One verdict for each passage."""

    grades: list[PassageGrade]


class RerankReply(GradeReply):
    """The same for the simple chat, under a name of its own in the model's schema."""


def fallback(*, question: str, passages: list[Passage]) -> GradeReply:
    """The passages' scores: the share of the question's words in each, names and numbers weighing most."""
    return RerankReply(
        grades=[
            PassageGrade(
                passage_id=passage.id,
                score=passage.score,
                reason=f"It holds {passage.score:.0%} of the question's words by weight.",
            )
            for passage in passages
        ]
    )


GRADE = Role(name="grade", reply=GradeReply, fallback=fallback, tier="fast", cut=("passages",))
RERANK = Role(name="rerank", reply=RerankReply, fallback=fallback, tier="fast", cut=("passages",))
