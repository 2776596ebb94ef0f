"""The budgets of a run: the caps its settings set, how much of each is used, and the sentence for one that is
used up.

A round begins with the question, after an answer that was sent back, or with a fork."""

from __future__ import annotations

from collections.abc import Sequence

from agent.engine.loop import Flow
from agent.engine.run_state import RunState
from agent.store.model_calls import ModelCalls
from agent.types import CAP_SETTINGS, Action, Cap, Run, Settings, Status, Step
from agent.types.batches import BudgetMeter, meter_usage

PAGE_LIMITED_FLOWS = ("site", "collect", "check_text")
"""Flows that count pages, by a limit of their own, instead of steps."""


def list_caps(settings: Settings) -> dict[Cap, float]:
    """The budgets of a run with these settings, each with its cap."""
    caps = {name: float(getattr(settings, setting)) for name, setting in CAP_SETTINGS.items()}
    if settings.flow in PAGE_LIMITED_FLOWS:
        del caps["steps"]
        caps["pages"] = float(getattr(settings, settings.flow).max_pages)
    return caps


def with_cap(settings: Settings, name: Cap, cap: float) -> Settings:
    """The settings with another cap on one budget."""
    if name == "pages" and settings.flow in PAGE_LIMITED_FLOWS:
        limits = getattr(settings, settings.flow)
        return settings.model_copy(update={settings.flow: limits.replace(max_pages=int(cap))})
    setting = CAP_SETTINGS[name]
    return settings.model_copy(update={setting: type(getattr(settings, setting))(cap)})


def measure_budgets(
    flow: Flow, calls: ModelCalls, run: Run, state: RunState, steps: Sequence[Step]
) -> list[BudgetMeter]:
    """The budgets of a run with what its round has used, the rewriting of its answer counted in."""
    ended = run.status in (Status.REVIEW, Status.DONE) and bool(state.answers)
    led = state.answers[find_led_answer(state)].step if ended else len(steps)
    round_start = flow.find_round_start(steps[:led])
    usage = calls.sum_usage(run.id, round_start)
    actions = find_last_round_actions(state) if ended else state.actions_this_round
    used: dict[Cap, float | None] = {meter.name: meter.used for meter in meter_usage(usage, run.settings)} | {
        "steps": len(actions),
        "pages": state.own.count_pages(actions),
        "seconds": round(sum(step.seconds for step in steps if step.n > round_start), 2),
    }
    return [BudgetMeter(name=name, used=used[name], cap=cap) for name, cap in list_caps(run.settings).items()]


def find_last_round_actions(state: RunState) -> list[Action]:
    """The actions of the round that led to the newest answer."""
    led = find_led_answer(state)
    since = state.answers[led - 1].step if led else -1
    if state.forked_at < state.answers[-1].step:
        since = max(since, state.forked_at)
    return [action for action in state.actions if action.step > since]


def find_led_answer(state: RunState) -> int:
    """The index of the newest answer that a round led to: one that was only rewritten after an edit, without
    an action, belongs to the round before."""
    for n in range(len(state.answers) - 1, 0, -1):
        since, answer = state.answers[n - 1].step, state.answers[n]
        if not answer.because or any(since < action.step < answer.step for action in state.actions):
            return n
    return 0
