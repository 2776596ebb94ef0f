"""One budget with what is used of it, for a run and for a batch."""

from __future__ import annotations

from agent.types.batches import BatchBudget
from agent.types.record import Record
from agent.types.runs import Cap, Settings, Usage


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
