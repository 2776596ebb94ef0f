"""Checks whether the draft of an answer says only what its quotes say, and answers. Code has checked the
quotes before."""

from __future__ import annotations

from pydantic import Field

from agent.roles.role import Role, RoleReply
from agent.types import Record


class Claim(Record):
    """A sentence of the draft, the verbatim quotes it cites, and whether code found its words and figures in
    them."""

    n: int
    text: str
    quotes: list[str] = Field(default_factory=list)
    backed: bool = False


class ValidateReply(RoleReply):
    """The verdict. `unsupported` are the numbers of sentences that go beyond their quotes."""

    grounded: bool
    unsupported: list[int] = Field(default_factory=list)
    reason: str = ""
    confidence: float = Field(
        default=0.0,
        ge=0.0,
        le=1.0,
        description="how sure it is that the draft answers the question from its quotes",
    )


def fallback(*, question: str, claims: list[Claim]) -> ValidateReply:
    """Grounded when there are sentences and code found each of them in its quotes."""
    unsupported = [claim.n for claim in claims if not claim.backed]
    if not claims:
        return ValidateReply(grounded=False, reason="Nothing was written.")
    if unsupported:
        reason = f"{len(unsupported)} of {len(claims)} sentences go beyond their quotes."
        return ValidateReply(grounded=False, unsupported=unsupported, reason=reason)
    return ValidateReply(grounded=True, reason="Every sentence is in its quotes.")


VALIDATE = Role(name="validate", reply=ValidateReply, fallback=fallback, tier="fast")
