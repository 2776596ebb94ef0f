"""The budget that all rows of a batch share, as number fields."""

from __future__ import annotations

from typing import Any

import streamlit as st

from agent.batch import jobs
from agent.types import BatchBudget


def draw_fields(given: BatchBudget, key: str, *, model: bool, **more: Any) -> BatchBudget:
    """The fields, filled in from `given`; returns their budget. Without a `model` its own are left out."""
    fields: dict[str, tuple[str, float, float, float]] = {
        "side_by_side": ("Parallel runs", 1, jobs.MAX_PARALLEL_RUNS, 1),
        "max_cost_usd": ("Maximum cost (US dollars)", 0.0, 10_000.0, 1.0),
        "max_calls": ("Maximum model calls", 0, 1_000_000, 100),
        "max_tokens": ("Maximum tokens", 0, 1_000_000_000, 1_000_000),
        "max_minutes": ("Maximum working time (minutes)", 1.0, 10_000.0, 10.0),
    }
    chosen = dict(given)
    for name, (label, low, high, step) in fields.items():
        if not model and name in ("max_cost_usd", "max_calls", "max_tokens"):
            continue
        value = max(low, getattr(given, name))
        field_key = f"{key}-{name.removeprefix('max_').removesuffix('_usd').removesuffix('_by_side')}"
        chosen[name] = st.number_input(label, low, high, value, step, key=field_key, **more)
    return BatchBudget(**chosen)
