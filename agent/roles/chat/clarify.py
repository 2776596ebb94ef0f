"""What to ask the person back: one question, with choices where there are some. Knows why it is asked, not
what follows."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from agent.roles.role import Role
from agent.types import Turn

MAX_CHOICES = 4


class ClarifyReply(BaseModel):
    """The question, and what may be picked as an answer instead of typing one."""

    model_config = ConfigDict(extra="ignore")

    question: str = Field(description="one friendly question, two sentences at most")
    choices: list[str] = Field(
        default_factory=list,
        description=f"up to {MAX_CHOICES} short answers that would help; empty when none can be named",
    )


def fallback(
    *, question: str, history: list[Turn], why: str, suggestion: str, titles: list[str], missing: list[str]
) -> ClarifyReply:
    """The question that was suggested, else one that says what was looked for in vain; the nearest titles as
    choices."""
    choices = list(dict.fromkeys(title for title in titles if title))[:MAX_CHOICES]
    if suggestion:
        return ClarifyReply(question=suggestion, choices=choices)
    words = ", ".join(f"“{word}”" for word in missing[:4])
    found = f"I could not find an answer to this in the library{f'; nothing suitable there speaks of {words}' if words else ''}."
    asked = (
        "Do you mean one of these, or can you say it in other words?"
        if choices
        else "Can you say it in other words, or name what it is about?"
    )
    return ClarifyReply(question=f"{found} {asked}", choices=choices)


CLARIFY = Role(name="clarify", reply=ClarifyReply, fallback=fallback, tier="fast")
