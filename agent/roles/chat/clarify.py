"""Asks the person back: one question, with choices where there are some."""

from __future__ import annotations

from pydantic import Field

from agent.roles.role import Role, RoleReply
from agent.types import Turn

MAX_CHOICES = 4


class ClarifyReply(RoleReply):
    """The question, and what may be picked as an answer instead of typing one."""

    question: str = Field(description="one friendly question, two sentences at most")
    choices: list[str] = Field(
        default_factory=list,
        description=f"up to {MAX_CHOICES} short answers that would help; empty when none can be named",
    )


def fallback(*, question: str, history: list[Turn], why: str, titles: list[str]) -> ClarifyReply:
    """A question that says what happened; the nearest titles as choices."""
    choices = list(dict.fromkeys(filter(None, titles)))[:MAX_CHOICES]
    if choices:
        ask = "Do you mean one of these, or can you say it in other words?"
    else:
        ask = "Can you say it in other words, or name what it is about?"
    return ClarifyReply(question=f"{why} {ask}", choices=choices)


CLARIFY = Role(name="clarify", reply=ClarifyReply, fallback=fallback, tier="fast")
