"""Choosing the sources of a run: domains, time, language, engines; and the line that tells what was chosen."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

import streamlit as st

from agent.types import LANGUAGES, Settings
from pages.widgets import door, safe

_BETWEEN = re.compile(r"[\s,]+")
PARTS = ("allow", "block", "since", "before", "dated", "language", "engines")


def form(flow: str, *, searches: bool = False, allowed: bool = True) -> dict[str, Any]:
    """The popover; returns what is chosen, as fields of the settings. `searches`: engines can be chosen; `allowed`: so can allowed domains."""
    with st.popover("Sources", icon=":material/filter_alt:", key=f"{flow}-sources"):
        return _fields(flow, searches=searches, allowed=allowed)


def _fields(flow: str, *, searches: bool, allowed: bool) -> dict[str, Any]:
    more: dict[str, Any] = {"persist_state": "session"}
    chosen: dict[str, Any] = {}
    if allowed:
        told = "Empty: every domain. *.example.org takes in all below it."
        chosen["allowed_domains"] = _names(
            st.text_input("Only these domains", key=f"{flow}-allow", placeholder="example.org, *.example.net", help=told, **more)
        )
    told = "Each with all below it. They go before the allowed ones."
    chosen["blocked_domains"] = _names(st.text_input("Never these domains", key=f"{flow}-block", placeholder="example.com", help=told, **more))
    with st.container(horizontal=True):
        since = _day("Published on or after", f"{flow}-since", more)
        before = _day("Published before", f"{flow}-before", more)
    chosen |= {"since": since, "before": before}
    told = "Without this, a page that states no date counts."
    chosen["dated_only"] = st.toggle("Leave out pages without a date", key=f"{flow}-dated", help=told, disabled=not (since or before), **more)
    codes = ["", *sorted(LANGUAGES, key=LANGUAGES.__getitem__)]
    chosen["language"] = st.selectbox(
        "Language of the pages", codes, format_func=lambda code: LANGUAGES.get(code, "Any"), key=f"{flow}-language", **more
    )
    if searches:
        engines = door.workbench().active().engines
        chosen["engines"] = st.multiselect(
            "Search engines", list(engines), format_func=engines.__getitem__, placeholder="all there are", key=f"{flow}-engines", **more
        )
    return chosen


def _day(label: str, key: str, more: dict[str, Any]) -> str:
    told: date | None = st.date_input(label, value=None, key=key, min_value=date(1900, 1, 1), max_value=date(2100, 1, 1), format="YYYY-MM-DD", **more)
    return told.isoformat() if told else ""


def _names(text: str | None) -> list[str]:
    return [name for name in _BETWEEN.split((text or "").strip()) if name]


def filled(flow: str, settings: Settings) -> dict[str, Any]:
    """What the form's fields hold for these settings, for the session."""
    values = (
        ", ".join(settings.allowed_domains), ", ".join(settings.blocked_domains), *(date.fromisoformat(day) if day else None for day in (
            settings.since, settings.before)), settings.dated_only, settings.language, list(settings.engines),
    )  # fmt: skip
    return {f"{flow}-{part}": value for part, value in zip(PARTS, values, strict=True)}


def line(settings: Settings, *, allowed: bool = True) -> str:
    """What was chosen, as a line of HTML; "" when anything goes. The allowed domains are left out where they are told elsewhere."""
    told = _told(settings, allowed)
    return f'<p class="small soft">Sources: {safe.html(told)}.</p>' if told else ""


def brief(settings: Settings, *, allowed: bool = True) -> str:
    """What was chosen, for the line beneath the question box."""
    return safe.shorten(_told(settings, allowed), 160)


def _told(settings: Settings, allowed: bool) -> str:
    return "; ".join((settings if allowed else settings.model_copy(update={"allowed_domains": []})).sources)
