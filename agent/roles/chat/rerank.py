"""Which of the passages found come first? The simple way's one look at relevance: scores, and by them an
order.

The keyless side takes the scores that code counted (see `grade`)."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from agent.roles.role import Role
from agent.types import Passage


class PassageScore(BaseModel):
    """One passage and how well it answers."""

    model_config = ConfigDict(extra="ignore")

    passage_id: str
    score: float = Field(ge=0.0, le=1.0)


class RerankReply(BaseModel):
    """A score for each passage."""

    model_config = ConfigDict(extra="ignore")

    scores: list[PassageScore]


def fallback(*, question: str, passages: list[Passage]) -> RerankReply:
    """By the share of the question's words that a passage holds."""
    best = sorted(passages, key=lambda passage: -passage.score)
    return RerankReply(scores=[PassageScore(passage_id=passage.id, score=passage.score) for passage in best])


RERANK = Role(name="rerank", reply=RerankReply, fallback=fallback, tier="fast")
