"""The plan of a run: its question in parts, and what is known of each."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from agent.types.record import Actor, Record

PartStatus = Literal["open", "answered", "found", "disputed", "not_found"]
"""`found`: quotes were found for it, and no model judged whether they answer it."""


class PlanPart(Record):
    """A sub-question. `Fact.part` and `Sentence.part` hold its id ("1", "2" …)."""

    id: str
    question: str
    status: PartStatus = "open"
    confidence: float = 0.0
    after: list[str] = Field(default_factory=list)
    """Ids of the parts whose answers it needs; code ignores unknown ones."""
    answered_by: str = ""
    """What would count as an answer, in the planner's words; "" where nobody said."""
    where: str = ""
    """Where to look, in the planner's words; "" where nobody said."""
    by: Actor = "keyless"
    """Who proposed or last changed it."""
