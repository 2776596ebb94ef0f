"""The strip of figures of a run: how sure, how far, at what price."""

from __future__ import annotations

import streamlit as st

from agent.types import Status
from agent.workbench import View
from pages.widgets import words


def draw(view: View) -> None:
    """One strip, one element: it is redrawn at every poll."""
    st.html(strip(view))


def this_round(view: View) -> int:
    """Searches and page visits of this round: since the answer that was sent back, or since the start."""
    state = view.state
    if not state.answers or view.run.status not in (Status.REVIEW, Status.DONE):
        return len(state.fresh_actions)
    since = state.answers[-2].step if len(state.answers) > 1 else -1
    return sum(action.step > since for action in state.actions)


def strip(view: View) -> str:
    """The strip as HTML. No text of the web is in it."""
    settings, state, usage = view.run.settings, view.state, view.usage
    rests = state.answer if view.run.status in (Status.REVIEW, Status.DONE) else None
    level, goal = round((rests.confidence if rests else state.level) * 100), round(settings.threshold * 100)
    meter = f'<div class="meter" aria-hidden="true"><i style="width:{level}%"></i><b style="left:{min(goal, 99)}%"></b></div>'
    facts = sum(fact.verified for fact in state.facts.values())
    keyless = not usage.llm_calls
    figures = [
        ("Confidence", f"{level} % <small>of {goal}</small>{meter}"),
        ("Steps", f"{this_round(view)} <small>of {settings.max_steps}</small>"),
        ("Pages read", f"{state.pages_read} <small>of {settings.max_pages}</small>"),
        ("Facts", f"{facts}"),
        ("Model calls", f"{usage.llm_calls:,}" if not keyless else "0 <small>no model</small>"),
        ("Tokens", words.tokens(usage)),
        ("Cost", words.money(usage.cost_usd if not keyless else 0.0)),
        ("Working time", words.duration(usage.seconds)),
    ]
    return '<dl class="ts figures">' + "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in figures) + "</dl>"
