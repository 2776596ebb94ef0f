"""Checks whether a draft says only what its quotes say, and answers; after the claim check."""

from __future__ import annotations

from pydantic import Field

from agent.roles.role import Role, RoleReply
from agent.types import Record


class Claim(Record):
    """A sentence of the draft, the verbatim quotes it cites, and whether its check found that they support
    it (False: nobody could judge it)."""

    n: int
    text: str
    quotes: list[str] = Field(default_factory=list)
    backed: bool = False


class ValidateReply(RoleReply):
    """The verdict. `unsupported` are the numbers of sentences that go beyond their quotes."""

    grounded: bool
    unsupported: list[int] = Field(default_factory=list)
    reason: str = ""


def fallback(*, question: str, claims: list[Claim]) -> ValidateReply:
    """Grounded when there are sentences: those that their quotes do not support were left out before."""
    if not claims:
        return ValidateReply(grounded=False, reason="Nothing was written.")
    if unchecked := sum(not claim.backed for claim in claims):
        reason = f"{unchecked} of {len(claims)} sentences could not be checked."
        return ValidateReply(grounded=True, reason=reason)
    return ValidateReply(grounded=True, reason="Every sentence is supported by its quotes.")


VALIDATE = Role(name="validate", reply=ValidateReply, fallback=fallback, tier="fast")
