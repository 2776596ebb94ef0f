"""The six budgets of a run as fields: a run may use what they say, and none is unlimited."""

from __future__ import annotations

from typing import Any

import streamlit as st

from agent.actions.budget import MAX_CAPS
from agent.types import CAP_SETTINGS, Cap, Settings
from pages.widgets.shell import labels

HELP_TEXTS: dict[Cap, str] = {
    "calls": "A tenth of it is kept back for writing the answer",
    "tokens": "Read and written by the model; a tenth is kept back for writing the answer",
    "cost": "By the list prices of the model; where its price is unknown this holds nothing back",
    "seconds": "The time it works, not the time it waits for you",
}
INCREMENTS: dict[Cap, float] = {"tokens": 10_000, "cost": 0.5, "seconds": 5.0}
"""What one click on plus or minus adds, where it is not 1."""
MINIMUMS: dict[Cap, float] = {"steps": 1, "pages": 1, "calls": 0, "tokens": 0, "cost": 0.0, "seconds": 1 / 60}


def draw_fields(flow: str, given: Settings, *, model: bool = True, **more: Any) -> dict[str, Any]:
    """The fields, filled in from `given`; returns their settings. Without a `model` it has no budgets."""
    made: dict[str, Any] = {}
    with st.container(key=f"{flow}-limits"), st.grid(3, min_column_width=150, gap="small"):
        for name, setting in CAP_SETTINGS.items():
            if model or name not in ("calls", "tokens", "cost"):
                value = draw_field(
                    name, f"{flow}-{setting.replace('_', '-')}", float(getattr(given, setting)), **more
                )
                made[setting] = type(getattr(given, setting))(value)
    return made


def draw_field(name: Cap, key: str, value: float, *, least: float | None = None, **more: Any) -> float:
    """One budget as a number to type, in the unit of its setting (minutes are shown for seconds)."""
    unit, whole = get_unit_scale(name), name not in ("cost", "seconds")
    low, high = (MINIMUMS[name] if least is None else least / unit), MAX_CAPS[name] / unit
    kind = int if whole else float
    shown = st.number_input(
        labels.BUDGET[name],
        kind(low),
        kind(high),
        kind(min(high, max(low, value / unit))),
        kind(INCREMENTS.get(name, 1)),
        key=key,
        help=HELP_TEXTS.get(name),
        format="%d" if whole else "%.2f" if name == "cost" else "%g",
        **more,
    )
    return float(shown) * unit


def get_unit_scale(name: Cap) -> float:
    """How many of the setting's unit one of the field's is: minutes stand for seconds."""
    return 60.0 if name == "seconds" else 1.0
