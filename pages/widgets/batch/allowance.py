"""The budget that all rows of a batch share, as number fields."""

from __future__ import annotations

from typing import Any

import streamlit as st

from agent.batch import jobs
from agent.types import BatchBudget


def draw_fields(given: BatchBudget, key: str, **more: Any) -> BatchBudget:
    """The fields, filled in from `given`; returns the budget they make."""
    fields: dict[str, tuple[str, float, float, float]] = {
        "side_by_side": ("Parallel runs", 1, jobs.MAX_PARALLEL_RUNS, 1),
        "max_cost_usd": ("At most, US dollars", 0.0, 10_000.0, 1.0),
        "max_calls": ("At most, model calls", 0, 1_000_000, 100),
        "max_tokens": ("At most, tokens", 0, 1_000_000_000, 1_000_000),
        "max_minutes": ("At most, minutes of work", 1.0, 10_000.0, 10.0),
    }
    chosen = {}
    for name, (label, low, high, step) in fields.items():
        value = max(low, getattr(given, name))
        field_key = f"{key}-{name.removeprefix('max_').removesuffix('_usd').removesuffix('_by_side')}"
        chosen[name] = st.number_input(label, low, high, value, step, key=field_key, **more)
    return BatchBudget(**chosen)
