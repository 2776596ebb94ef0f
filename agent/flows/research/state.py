"""What a research run alone keeps: leads, what a tool brought last, and the analyzer's last report."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from agent.answering.view import AnsweringState
from agent.engine.run_state import RunState
from agent.engine.state import upsert
from agent.types import Action, Lead, Outline, Record, SearchHit

SEARCH_PREFIX = "search: "
"""Precedes the query in the name of a search."""


class Observation(Record):
    """What one action of a round brought: a stored page, or search results."""

    source: str
    """The page's address, or "search: …"."""
    page_id: str = ""
    outcome: str = "ok"
    hits: list[SearchHit] = Field(default_factory=list)
    part: str = ""
    """The id of the plan's part it is for; "" for the whole question."""


class ResearchState(AnsweringState):
    """The research flow's own record."""

    leads: Annotated[dict[str, Lead], upsert] = Field(default_factory=dict)
    brought: list[Observation] = Field(default_factory=list)
    """What the last round brought. Its search results are listed for the next decision."""
    is_analyzed: bool = False
    """Whether `brought` was analyzed."""
    ambiguity: str = ""
    """The planner's question about what was meant; "" where the question can be read in one way."""
    meanings: list[str] = Field(default_factory=list)
    """What the question can mean, the likeliest first: the plan follows it."""
    plan_trouble: str = ""
    """Why the model that was asked for the plan did not make it."""
    outline: Outline | None = None
    """The outline of the full report that was made or edited last."""
    report: dict[str, Any] | None = None
    """The analyzer's last report: its six fields, and `by` and `trouble`."""
    reported_at: int = -1
    """The step of the last report that a model made of pages."""

    def count_pages(self, actions: list[Action]) -> int:
        """How many pages these actions read, each once."""
        return sum(bool(action.page_id) and action.action != "more" for action in actions)

    def comparison_questions(self, run: RunState[Any]) -> list[str]:
        """The run's question; of one with several parts each of these."""
        return [part.question for part in run.plan] if len(run.plan) > 1 else [run.question]


ResearchRun = RunState[ResearchState]
