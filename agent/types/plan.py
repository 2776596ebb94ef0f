"""The plan of a run: its question in parts, and what is known of each."""

from __future__ import annotations

from typing import Literal

from agent.types.record import Record

PartStatus = Literal["open", "answered", "found", "disputed", "not_found"]
"""`found`: quotes were found for it, and no model judged whether they answer it."""


class PlanPart(Record):
    """A sub-question. `Fact.part` and `Sentence.part` hold its id ("1", "2" …)."""

    id: str
    question: str
    status: PartStatus = "open"
    confidence: float = 0.0
