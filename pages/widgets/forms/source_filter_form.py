"""Choosing a run's sources: domains, time, language, engines; and the line that tells the choice."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

import streamlit as st

from agent.types import ENGINE_BY_NAME, LANGUAGES, Settings
from pages.widgets.shell import client, escape

_SEPARATORS = re.compile(r"[\s,]+")
FIELD_NAMES = ("allow", "block", "since", "before", "dated", "language", "engines")


def draw(flow: str, *, searches: bool = False, allowed: bool = True) -> dict[str, Any]:
    """The popover; returns settings' fields. `searches`: engines can be chosen; `allowed`: so can domains."""
    with st.popover("Sources", icon=":material/filter_alt:", key=f"{flow}-sources"):
        return _draw_fields(flow, searches=searches, allowed=allowed)


def _draw_fields(flow: str, *, searches: bool, allowed: bool) -> dict[str, Any]:
    more: dict[str, Any] = {"persist_state": "session"}
    chosen: dict[str, Any] = {}
    if allowed:
        told = "Empty: every domain. *.example.org takes in all below it."
        chosen["allowed_domains"] = _split_names(
            st.text_input(
                "Only these domains",
                key=f"{flow}-allow",
                placeholder="example.org, *.example.net",
                help=told,
                **more,
            )
        )
    told = "Each with all below it. They go before the allowed ones."
    chosen["blocked_domains"] = _split_names(
        st.text_input(
            "Never these domains", key=f"{flow}-block", placeholder="example.com", help=told, **more
        )
    )
    with st.container(horizontal=True):
        since = _draw_date("Published on or after", f"{flow}-since", more)
        before = _draw_date("Published before", f"{flow}-before", more)
    chosen |= {"since": since, "before": before}
    told = "Without this, a page that states no date counts."
    chosen["dated_only"] = st.toggle(
        "Leave out pages without a date",
        key=f"{flow}-dated",
        help=told,
        disabled=not (since or before),
        **more,
    )
    codes = ["", *sorted(LANGUAGES, key=LANGUAGES.__getitem__)]
    chosen["language"] = st.selectbox(
        "Language of the pages",
        codes,
        format_func=lambda code: LANGUAGES.get(code, "Any"),
        key=f"{flow}-language",
        **more,
    )
    if searches:
        engines = client.workbench().active_configuration().engines
        chosen["engines"] = st.multiselect(
            "Search engines",
            list(engines),
            format_func=lambda name: f"{engines[name]} ({ENGINE_BY_NAME[name].suits})",
            placeholder="all available",
            key=f"{flow}-engines",
            **more,
        )
    return chosen


def _draw_date(label: str, key: str, more: dict[str, Any]) -> str:
    told: date | None = st.date_input(
        label,
        value=None,
        key=key,
        min_value=date(1900, 1, 1),
        max_value=date(2100, 1, 1),
        format="YYYY-MM-DD",
        **more,
    )
    return told.isoformat() if told else ""


def _split_names(text: str | None) -> list[str]:
    return [name for name in _SEPARATORS.split((text or "").strip()) if name]


def to_session_values(flow: str, settings: Settings) -> dict[str, Any]:
    """What the form's fields hold for these settings, for the session."""
    values = (
        ", ".join(settings.allowed_domains),
        ", ".join(settings.blocked_domains),
        *(date.fromisoformat(day) if day else None for day in (settings.since, settings.before)),
        settings.dated_only,
        settings.language,
        list(settings.engines),
    )
    return {f"{flow}-{part}": value for part, value in zip(FIELD_NAMES, values, strict=True)}


def render_summary(settings: Settings, *, allowed: bool = True) -> str:
    """What was chosen, as a line of HTML; "" for anything. Domains are left out where told elsewhere."""
    told = _describe(settings, allowed)
    return f'<p class="small soft">Sources: {escape.html(told)}.</p>' if told else ""


def summarize(settings: Settings, *, allowed: bool = True) -> str:
    """What was chosen, for the line beneath the question box."""
    return escape.shorten(_describe(settings, allowed), 160)


def _describe(settings: Settings, allowed: bool) -> str:
    return "; ".join(
        (settings if allowed else settings.model_copy(update={"allowed_domains": []})).source_descriptions
    )
