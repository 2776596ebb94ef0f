"""What a research run alone keeps: leads, what a tool brought last, and the analyzer's last report."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from agent.engine.run_state import FlowState, RunState
from agent.engine.state import upsert
from agent.flows.shared.plan import parse_parts
from agent.text.question_analysis import ParsedQuestion, parse_question
from agent.types import Lead, Record, SearchHit


class Observation(Record):
    """What a tool brought and nobody has analysed yet: a stored page, or search results."""

    source: str
    """The page's address, or "search: …"."""
    page_id: str = ""
    outcome: str = "ok"
    hits: list[SearchHit] = Field(default_factory=list)


class ResearchState(FlowState):
    """The research flow's own record."""

    leads: Annotated[dict[str, Lead], upsert] = Field(default_factory=dict)
    looking: Observation | None = None
    report: dict[str, Any] | None = None
    """The analyzer's last report: its six fields, and `by` and `trouble`."""

    def comparison_questions(self, run: RunState[Any]) -> list[ParsedQuestion]:
        """The run's question; of one with several parts each of these."""
        return parse_parts(run.plan) if len(run.plan) > 1 else [parse_question(run.question)]


ResearchRun = RunState[ResearchState]
