"""Tells which sentences of a given text state nothing that a source could confirm: opinions, advice, remarks
on the text itself. Structure has told headings and questions before."""

from __future__ import annotations

from pydantic import Field

from agent.roles.role import Role, RoleReply
from agent.types import Record


class NumberedSentence(Record):
    """A sentence as the prompt shows it."""

    n: int
    text: str


class FindClaimsReply(RoleReply):
    """The numbers of the sentences that state no fact; all others are checked."""

    no_claims: list[int] = Field(
        default_factory=list, description="numbers of sentences that state nothing a source could confirm"
    )


def fallback(*, title: str, sentences: list[NumberedSentence]) -> FindClaimsReply:
    """None: without a model every sentence is taken for a claim."""
    return FindClaimsReply()


FIND_CLAIMS = Role(name="find_claims", reply=FindClaimsReply, fallback=fallback, tier="fast")
