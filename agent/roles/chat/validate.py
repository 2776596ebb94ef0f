"""Does the draft of an answer say only what its quotes say, and does it answer? Code has checked the quotes
before; this reads them.

The keyless side asks no more than code does: every sentence backed by its quotes, and the evidence likely to
answer."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from agent.roles.role import Role
from agent.types import Record


class Claim(Record):
    """A sentence of the draft, the verbatim quotes it cites, and whether code found its words and figures in
    them."""

    n: int
    text: str
    quotes: list[str] = Field(default_factory=list)
    backed: bool = False


class ValidateReply(BaseModel):
    """The verdict. `unsupported` are the numbers of sentences that go beyond their quotes."""

    model_config = ConfigDict(extra="ignore")

    grounded: bool
    unsupported: list[int] = Field(default_factory=list)
    reason: str = ""
    confidence: float = Field(
        default=0.0,
        ge=0.0,
        le=1.0,
        description="how sure it is that the draft answers the question from its quotes",
    )


def fallback(*, question: str, claims: list[Claim], likelihood: float) -> ValidateReply:
    """Grounded when there is something, and code found all of it in its quotes."""
    unsupported = [claim.n for claim in claims if not claim.backed]
    if not claims:
        return ValidateReply(grounded=False, reason="Nothing was written.")
    if unsupported:
        return ValidateReply(
            grounded=False,
            unsupported=unsupported,
            reason=f"{len(unsupported)} of {len(claims)} sentences go beyond their quotes.",
        )
    return ValidateReply(
        grounded=True, reason="Every sentence stands in its quotes.", confidence=round(likelihood, 4)
    )


VALIDATE = Role(name="validate", reply=ValidateReply, fallback=fallback, tier="fast")
