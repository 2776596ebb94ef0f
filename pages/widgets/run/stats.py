"""The strip of figures of a run: how sure, how far, at what price."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from agent.actions.budget import format_amount, read_meters
from agent.types import Cap, Status
from agent.types.batches import BudgetMeter
from agent.workbench import RunSnapshot
from pages.widgets.shell import client, labels, markup, view_cache

WARNING_SHARE = 0.9
"""The share from which a bar warns: what is left is kept for the answer."""


def draw(view: RunSnapshot) -> None:
    """One strip, one element: it is redrawn at every poll."""
    name = f"meters-{view.run.status}-{view.usage.llm_calls}"  # a call is counted before its step ends
    st.html(
        render(view, view_cache.get_or_compute(view, name, lambda: read_meters(client.workbench(), view)))
    )


def render_meter(meter: BudgetMeter | None) -> str:
    """How full a budget is, as a small bar that tells pointers and screen readers; or nothing."""
    if meter is None:
        return ""
    told = (
        f"{format_amount(meter.name, meter.used)} of "
        f"{format_amount(meter.name, meter.cap)} of this round's budget"
    )
    full = " full" if meter.share >= WARNING_SHARE else ""
    return (
        f'<div class="meter{full}" role="img" aria-label="{told}" title="{told}"><i '
        f'style="width:{meter.share * 100:.0f}%"></i></div>'
    )


def render(view: RunSnapshot, meters: Sequence[BudgetMeter]) -> str:
    """The strip as HTML, each budget with its bar. No text of the web is in it."""
    known = {meter.name: meter for meter in meters}
    settings, state, usage = view.run.settings, view.state, view.usage
    rests = state.answer if view.run.status in (Status.REVIEW, Status.DONE) else None
    level, goal = (
        rests.confidence if rests else state.shown_confidence,
        round(settings.threshold * 100),
    )
    meter = (
        f'<div class="meter" aria-hidden="true"><i style="width:{round((level or 0) * 100)}%"></i><b '
        f'style="left:{min(goal, 99)}%"></b></div>'
    )
    facts, own = (
        sum(fact.verified for fact in state.facts.values()),
        sum(fact.is_own_knowledge for fact in state.facts.values()),
    )
    tokens = usage.prompt_tokens + usage.completion_tokens
    totals: dict[Cap, float | None] = {
        "steps": len(state.actions),
        "pages": state.pages_read_count,
        "calls": usage.llm_calls,
        "tokens": tokens,
        "cost": usage.cost_usd if usage.llm_calls else 0.0,
        "seconds": usage.seconds,
    }
    budgets = {name: render_budget(name, known.get(name), total) for name, total in totals.items()}
    told = f"{labels.format_percent(level)} <small>target {goal} %</small>{meter}"
    figures = [
        *([("Confidence", told)] if level is not None else []),
        ("Steps", budgets["steps"]),
        ("Pages read", budgets["pages"]),
        ("Facts", f"{facts} <small>and {own} of yours</small>" if own else f"{facts}"),
        ("Model calls", budgets["calls"] if usage.llm_calls else "0 <small>no model</small>"),
        ("Tokens", budgets["tokens"]),
        ("Cost", budgets["cost"]),
        ("Working time", budgets["seconds"]),
    ]
    return markup.stats(figures)


FORMATS: dict[Cap, Callable[[float | None], str]] = {
    "cost": labels.format_money,
    "seconds": lambda seconds: labels.format_duration(seconds or 0.0),
    "tokens": lambda tokens: labels.format_tokens(int(tokens or 0)),
}
"""How the amounts are written that are no plain numbers."""


def render_budget(name: Cap, meter: BudgetMeter | None, total: float | None) -> str:
    """What a round used of one budget, with its bar; where the run used more, that is said in words, too."""

    def show(value: float | None) -> str:
        return FORMATS[name](value) if name in FORMATS else f"{value or 0:,.0f}"

    if meter is None:
        return show(total)
    cap = f" <small>of {show(meter.cap)}</small>" if name in ("steps", "pages") else ""
    is_part = show(total) != show(meter.used) and (total or 0.0) > (meter.used or 0.0)
    told = f'<small class="rounds">this round; {show(total)} in all</small>' if is_part else ""
    bar = render_meter(meter) if meter.used or name in ("steps", "pages", "seconds") else ""
    return f"{show(meter.used)}{cap}{told}{bar}"
