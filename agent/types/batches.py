"""Many questions asked at once (a batch, its shared budget, its rows), what is used of a budget, and what is
asked again and again (a schedule).

Not to be confused with the message batches of `reply` (agent.bot.debounce).
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from agent.types.record import Record
from agent.types.runs import Cap, Settings, Status, Usage

BatchState = Literal["running", "stopped", "spent", "done", "deleted"]
"""`stopped` by a person; `spent`: its budget is used up; `done`: no row is waiting or running."""
RowState = Literal["waiting", "running", "done", "failed", "resting", "refused", "binned"]


class BatchBudget(Record, use_attribute_docstrings=True):
    """The budget of all runs of a batch together."""

    side_by_side: int = 2
    """Runs side by side."""
    max_calls: int = 2_000
    """Model calls at most."""
    max_tokens: int = 10_000_000
    """Model tokens at most; read and written."""
    max_cost_usd: float = Field(default=10.0, allow_inf_nan=False)
    """US dollars at most."""
    max_minutes: float = Field(default=240.0, allow_inf_nan=False)
    """Minutes of work at most; of all runs, added up."""


class BatchRow(Record):
    """One row of the file: its question, its other columns, and the status of its run."""

    n: int
    """The row's number below the header, from 1."""
    question: str
    given: dict[str, str]
    """The other columns of the file, unchanged."""
    own: dict[str, Any] = Field(default_factory=dict)
    """Settings for this row alone."""
    same_as: int = 0
    """The row with the same question, whose run answers both; 0 for none."""
    trouble: str = ""
    """Why this row cannot be run; "" when it can."""
    run_id: str = ""
    again: bool = False
    """Whether it is to be resumed as soon as a worker is free."""
    status: Status | None = None
    verdict: str = ""
    confidence: float | None = None
    error: str = ""
    deleted_at: str = ""
    """When its run was put into the bin; "" when it is not there."""

    @property
    def state(self) -> RowState:
        """The state of the row, from its run's status."""
        if self.trouble:
            return "refused"
        if not self.run_id:
            return "waiting"
        if self.deleted_at:
            return "binned"
        if self.again:
            return "waiting"
        if self.status in (Status.REVIEW, Status.DONE):
            return "done"
        states: dict[Status | None, RowState] = {Status.RUNNING: "running", Status.FAILED: "failed"}
        return states.get(self.status, "resting")


class Batch(Record):
    """A batch without its rows."""

    id: str
    name: str
    state: BatchState
    settings: Settings
    """The settings of every row that has none of its own."""
    allowance: BatchBudget
    columns: list[str]
    """The columns of the file in order, the question included."""
    created_at: str
    updated_at: str


class BudgetMeter(Record):
    """One budget in the unit of its setting. `used` is None when it is unknown (a price)."""

    name: Cap
    used: float | None
    cap: float

    @property
    def share(self) -> float:
        """The share that is used, 0 to 1."""
        return 1.0 if self.cap <= 0 else min(1.0, (self.used or 0.0) / self.cap)

    @property
    def description(self) -> str:
        """What is used of it, as a sentence."""
        used = self.used or 0.0
        if self.name == "cost":
            return f"${used:.2f} of ${self.cap:.2f} is spent"
        if self.name == "seconds":
            return f"{used / 60:.1f} of {self.cap / 60:g} minutes of work are used"
        unit = "model calls" if self.name == "calls" else self.name
        return f"{used:,.0f} of {self.cap:,.0f} {unit} are used"


def meter_usage(usage: Usage, caps: Settings | BatchBudget) -> list[BudgetMeter]:
    """The budgets of calls, tokens and money."""
    tokens = usage.prompt_tokens + usage.completion_tokens
    return [
        BudgetMeter(name="calls", used=usage.llm_calls, cap=caps.max_calls),
        BudgetMeter(name="tokens", used=tokens, cap=caps.max_tokens),
        BudgetMeter(name="cost", used=usage.cost_usd, cap=caps.max_cost_usd),
    ]


class Schedule(Record, use_attribute_docstrings=True):
    """What is asked (`repeats`: the run it is taken from), the times (`cron` has five fields, `zone` is a
    name of the IANA database, `next_at` is in seconds since 1970), and how it stands."""

    id: str
    name: str
    state: Literal["active", "paused", "deleted"]
    question: str
    settings: Settings
    repeats: str
    cron: str
    zone: str
    next_at: float
    run_id: str
    """Its last run; "" before the first."""
    is_open: bool
    """Whether the outcome of that run is not counted yet."""
    fired: int
    """Runs that it started."""
    skipped: int
    """Times at which its last run worked or waited."""
    missed: int
    """Times that passed unused, as no server ran or a quota held it up; the last of them is made up for."""
    failures: int
    """Runs that failed in a row."""
    remark: str
    """What there was to tell last: a pause, a time that was skipped or missed, a quota; "" for nothing."""
    program: str
    """The program that made it; "" where its person did."""
    created_at: str
