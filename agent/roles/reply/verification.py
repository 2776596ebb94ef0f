"""The last check of a drafted reply: may it be posted? Knows the draft and the passages it was written from.

The keyless side is strict: each sentence of the draft must stand in the passages word for word.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from agent.roles.role import Role
from agent.text.sentences import find_sentence_spans
from agent.text.tokens import tokenize
from agent.types import Passage


class VerificationReply(BaseModel):
    """Approved or not."""

    model_config = ConfigDict(extra="ignore")

    verification: bool = Field(description="true: the draft may be posted as it stands")
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
    """Approved when every word of the draft was quoted, sentence by sentence."""
    said = " ".join(" ".join(tokenize(f"{passage.heading} {passage.text}")) for passage in passages)
    for start, end in find_sentence_spans(draft):
        spoken = tokenize(draft[start:end])
        if spoken and " ".join(spoken) not in said:
            return VerificationReply(
                verification=False, reasoning=f"“{draft[start:end][:80]}” does not stand in the sources."
            )
    return VerificationReply(
        verification=bool(draft.strip()), reasoning="Every sentence stands in the sources."
    )


VERIFICATION = Role(name="verification", reply=VerificationReply, fallback=fallback, tier="strong")
