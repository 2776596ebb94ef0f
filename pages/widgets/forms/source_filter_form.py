"""Choosing a run's sources: domains, time, language, engines; and the line that tells the choice."""

from __future__ import annotations

from datetime import date
from typing import Any

import streamlit as st

from agent.types import ENGINE_BY_NAME, LANGUAGES, Settings
from pages.widgets.shell import client, escape, ui

LISTS = {
    "allowed_domains": ("Only these domains", "Empty: every domain. *.example.org takes in all below it."),
    "blocked_domains": ("Never these domains", "Each with all below it. They go before the allowed ones."),
}
DAYS = {"since": "Published on or after", "before": "Published before"}
FIRST_DAY, LAST_DAY = date(1900, 1, 1), date(2100, 1, 1)


def draw(flow: str, *, searches: bool = False) -> dict[str, Any]:
    """The fields; returns the settings they stand for. `searches`: engines can be chosen."""
    more: Any = {"persist_state": "session"}
    chosen: dict[str, Any] = {}
    with st.grid(3, min_column_width=220, gap="small", vertical_alignment="bottom"):
        for name, (label, hint) in LISTS.items():
            placed: Any = {"placeholder": "example.org, *.example.net", "help": hint, **more}
            chosen[name] = split_names(st.text_input(label, key=f"{flow}-{name}", **placed))
        languages = {"": "Any", **dict(sorted(LANGUAGES.items(), key=lambda item: item[1]))}
        key = f"{flow}-language"
        chosen["language"] = ui.select("Language of the pages", languages, key, filter_mode="fuzzy", **more)
        for name, label in DAYS.items():
            day = st.date_input(
                label, None, FIRST_DAY, LAST_DAY, key=f"{flow}-{name}", format="YYYY-MM-DD", **more
            )
            chosen[name] = day.isoformat() if day else ""
        told = {
            "help": "Without this, a page that states no date counts.",
            "key": f"{flow}-dated_only",
            **more,
        }
        unused = not (chosen["since"] or chosen["before"])
        chosen["dated_only"] = st.toggle("Leave out pages without a date", disabled=unused, **told)
        if searches:
            names = client.workbench().active_configuration().engines
            chosen["engines"] = st.multiselect(
                "Search engines",
                list(names),
                format_func=lambda name: f"{names[name]} ({ENGINE_BY_NAME[name].suits})",
                placeholder="all available",
                key=f"{flow}-engines",
                **more,
            )
    return chosen


def split_names(text: str | None) -> list[str]:
    """The names in a field, each once."""
    return list(dict.fromkeys((text or "").replace(",", " ").split()))


def to_session_values(flow: str, settings: Settings) -> dict[str, Any]:
    """What the form's fields hold for these settings, for the session."""
    values: dict[str, Any] = {name: ", ".join(getattr(settings, name)) for name in LISTS}
    values |= {name: date.fromisoformat(day) if (day := getattr(settings, name)) else None for name in DAYS}
    values |= {"dated_only": settings.dated_only, "language": settings.language}
    return {f"{flow}-{name}": value for name, value in values.items()}


def render_summary(settings: Settings) -> str:
    """What was chosen, as a line of HTML; "" for anything."""
    told = "; ".join(settings.source_descriptions)
    return f'<p class="small soft">Sources: {escape.html(told)}.</p>' if told else ""


def summarize(settings: Settings) -> str:
    """What was chosen, for the line beneath the question box."""
    return escape.shorten("; ".join(settings.source_descriptions), 160)
