"""The last check of a drafted reply: may it be posted?"""

from __future__ import annotations

from pydantic import Field

from agent.roles.role import Role, RoleReply
from agent.text.sentences import find_sentence_spans
from agent.text.tokens import tokenize
from agent.types import Passage


class VerificationReply(RoleReply):
    """Approved or not."""

    verification: bool = Field(description="true: the draft may be posted as it is")
    reasoning: str = Field(default="", description="one short sentence")


def fallback(
    *,
    task: str,
    introduction: str,
    conversation: str,
    question: str,
    draft: str,
    passages: list[Passage],
    pictures: int,
) -> VerificationReply:
    """Approved when each sentence of the draft is in the passages word for word."""
    sources = " ".join(" ".join(tokenize(f"{passage.heading} {passage.text}")) for passage in passages)
    for start, end in find_sentence_spans(draft):
        if " ".join(tokenize(draft[start:end])) not in sources:
            reason = f"“{draft[start:end][:80]}” is not in the sources."
            return VerificationReply(verification=False, reasoning=reason)
    return VerificationReply(verification=bool(draft.strip()), reasoning="Every sentence is in the sources.")


VERIFICATION = Role(name="verification", reply=VerificationReply, fallback=fallback, tier="strong")
