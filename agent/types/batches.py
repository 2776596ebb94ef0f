"""Many questions asked at once: a batch, what all its runs together may spend, and its rows.

A batch has nothing to do with the batches of messages that `reply` waits for (agent.bot.debounce).
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from agent.types.record import Record
from agent.types.runs import Settings, Status

BatchState = Literal["running", "stopped", "spent", "done"]
"""`stopped` by a person, `spent`: its budget is used up, `done`: no row is left to start and none is at
work."""
RowState = Literal["waiting", "running", "done", "failed", "resting", "refused", "binned"]
ENDED_ROW_STATES: tuple[RowState, ...] = ("done", "failed", "refused", "binned")
"""Rows that nothing more happens to by itself."""


class BatchBudget(Record):
    """What all runs of a batch together may spend, and how many of them work side by side. `max_minutes`
    counts working time, summed up."""

    side_by_side: int = 2
    max_calls: int = 2_000
    max_tokens: int = 10_000_000
    max_cost_usd: float = Field(default=10.0, allow_inf_nan=False)
    max_minutes: float = Field(default=240.0, allow_inf_nan=False)


class BatchRow(Record):
    """One row of the file: its question, its other columns as they came, and how its run stands."""

    n: int
    """The row's number in a spreadsheet; the header is row 1."""
    question: str
    given: dict[str, str] = Field(default_factory=dict)
    """Every column of the file but the question, as it came."""
    own: dict[str, Any] = Field(default_factory=dict)
    """Settings that this row has of its own."""
    same_as: int = 0
    """The row that asks the very same: its run answers both. 0 for none."""
    trouble: str = ""
    """Why this row cannot be asked; "" when it can."""
    run_id: str = ""
    again: bool = False
    """To be taken up again as soon as there is room."""
    status: Status | None = None
    verdict: str = ""
    confidence: float | None = None
    error: str = ""
    steps: int = 0
    deleted: bool = False
    """Is its run in the bin?"""

    @property
    def state(self) -> RowState:
        """How the row stands, from its run's status."""
        if self.trouble:
            return "refused"
        if not self.run_id:
            return "waiting"
        if self.deleted:
            return "binned"
        if self.again:
            return "waiting"
        if self.status in (Status.REVIEW, Status.DONE):
            return "done"
        return (
            "running"
            if self.status is Status.RUNNING
            else "failed"
            if self.status is Status.FAILED
            else "resting"
        )


class Batch(Record):
    """A batch without its rows."""

    id: str
    name: str
    state: BatchState
    settings: Settings
    """What each row is asked with, where it has no settings of its own."""
    allowance: BatchBudget
    columns: list[str]
    """The columns of the file in their order, the question's among them."""
    created_at: str = ""
    updated_at: str = ""
