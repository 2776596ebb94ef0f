"""The strip of figures of a run: how sure, how far, at what price."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from agent.actions.budget import format_amount, read_meters
from agent.engine.budget_meters import find_last_round_actions
from agent.types import Status
from agent.types.budget import BudgetMeter
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


def count_round_steps(view: RunSnapshot) -> int:
    """Searches and page visits of this round: since the answer that was sent back, or since the start."""
    state = view.state
    if not state.answers or view.run.status not in (Status.REVIEW, Status.DONE):
        return len(state.actions_this_round)
    return len(find_last_round_actions(state))


def render_meter(meter: BudgetMeter | None) -> str:
    """How full a budget is, as a small bar that says so to who points at it or cannot see it; nothing for one
    that is not there."""
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


def render(view: RunSnapshot, meters: Sequence[BudgetMeter] = ()) -> str:
    """The strip as HTML, each budget with its bar. No text of the web is in it."""
    bars = {meter.name: render_meter(meter) for meter in meters}
    settings, state, usage = view.run.settings, view.state, view.usage
    rests = state.answer if view.run.status in (Status.REVIEW, Status.DONE) else None
    level, goal = (
        round((rests.confidence if rests else state.current_confidence) * 100),
        round(settings.threshold * 100),
    )
    meter = (
        f'<div class="meter" aria-hidden="true"><i style="width:{level}%"></i><b '
        f'style="left:{min(goal, 99)}%"></b></div>'
    )
    facts, own = (
        sum(fact.verified for fact in state.facts.values()),
        sum(fact.is_own_knowledge for fact in state.facts.values()),
    )
    keyless = not usage.llm_calls
    figures = [
        ("Confidence", f"{level} % <small>target {goal} %</small>{meter}"),
        ("Steps", f"{count_round_steps(view)} <small>of {settings.max_steps}</small>{bars.get('steps', '')}"),
        (
            "Pages read",
            f"{state.pages_read_count} <small>of {settings.max_pages}</small>{bars.get('pages', '')}",
        ),
        ("Facts", f"{facts} <small>and {own} of yours</small>" if own else f"{facts}"),
        (
            "Model calls",
            f"{usage.llm_calls:,}{bars.get('calls', '')}" if not keyless else "0 <small>no model</small>",
        ),
        ("Tokens", labels.format_tokens(usage) + (bars.get("tokens", "") if not keyless else "")),
        (
            "Cost",
            labels.format_money(usage.cost_usd if not keyless else 0.0)
            + (bars.get("cost", "") if not keyless else ""),
        ),
        ("Working time", labels.format_duration(usage.seconds) + bars.get("seconds", "")),
    ]
    return markup.stats(figures)
