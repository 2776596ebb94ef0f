"""The budgets of a run: which it has, how much of each its round has used, and its settings with another cap.

A round begins with the question, after an answer that was sent back, or with a fork. Knows no screen; the
store is asked for what calls have cost."""

from __future__ import annotations

from collections.abc import Sequence

from agent.engine.loop import Flow
from agent.engine.run_state import RunState
from agent.store.model_calls import ModelCalls
from agent.types import CAP_SETTINGS, Action, Cap, Record, Run, Settings, Status, Step

PAGE_LIMITED_FLOWS = ("site", "collect")
"""Flows that count the pages they ask for, by a limit of their own, instead of steps."""


class BudgetMeter(Record):
    """One budget: how much of it is used in this round, in the unit of its setting. `used` is None when
    nobody knows (a price)."""

    name: Cap
    used: float | None
    cap: float

    @property
    def share(self) -> float:
        """How full it is, 0 to 1."""
        return 1.0 if self.cap <= 0 else min(1.0, (self.used or 0.0) / self.cap)


def list_caps(settings: Settings) -> dict[Cap, float]:
    """The budgets that hold for a run of these settings, each with its cap."""
    found = {name: float(getattr(settings, setting)) for name, setting in CAP_SETTINGS.items()}
    if settings.flow in PAGE_LIMITED_FLOWS:
        del found["steps"]
        found["pages"] = float((settings.site if settings.flow == "site" else settings.collect).max_pages)
    return found


def with_cap(settings: Settings, name: Cap, cap: float) -> Settings:
    """The settings with another cap on one budget."""
    if name == "pages" and settings.flow in PAGE_LIMITED_FLOWS:
        limits = getattr(settings, settings.flow)
        return settings.model_copy(update={settings.flow: limits.model_copy(update={"max_pages": int(cap)})})
    setting = CAP_SETTINGS[name]
    return settings.model_copy(update={setting: type(getattr(settings, setting))(cap)})


def measure_budgets(
    calls: ModelCalls, flow: Flow, run: Run, state: RunState, steps: Sequence[Step]
) -> list[BudgetMeter]:
    """The budgets of a run as far as its round has used them; of a round that is over, up to its answer."""
    over = run.status in (Status.REVIEW, Status.DONE) and bool(state.answers)
    began = flow.find_round_start(steps[: state.answers[-1].step] if over else steps)  # step n is the nth
    spent, doing = (
        calls.sum_usage(run.id, began),
        find_last_round_actions(state) if over else state.actions_this_round,
    )
    pages = state.own.count_pages(doing)
    used: dict[Cap, float | None] = {
        "steps": len(doing),
        "pages": pages,
        "calls": spent.llm_calls,
        "tokens": spent.prompt_tokens + spent.completion_tokens,
        "cost": spent.cost_usd if spent.llm_calls else 0.0,
        "seconds": round(sum(step.seconds for step in steps if step.n > began), 2),
    }
    return [BudgetMeter(name=name, used=used[name], cap=cap) for name, cap in list_caps(run.settings).items()]


def find_last_round_actions(state: RunState) -> list[Action]:
    """The actions of the round that led to the newest answer; one that was written anew after edits only is
    of the round before."""
    ends = [answer.step for answer in state.answers if not answer.because]
    since = ends[-2] if len(ends) > 1 else -1
    if state.forked_at < state.answers[-1].step:
        since = max(since, state.forked_at)
    return [action for action in state.actions if action.step > since]
