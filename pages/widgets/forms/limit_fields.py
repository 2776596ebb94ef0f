"""The limits of a flow as fields, made from the record of its settings: each is called what its description
says there up to a semicolon; the rest is its help."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, TypeVar

import streamlit as st

from agent.types.record import Record

R = TypeVar("R", bound=Record)


def draw(given: R, flow: str, *, without: Collection[str] = (), **more: Any) -> R:
    """A field for each number and each switch of the record, filled in from it; returns what they say."""
    numbers = [name for name, value in given if isinstance(value, int | float) and name not in without]
    with st.grid(3, min_column_width=220, gap="small", vertical_alignment="bottom"):
        return given.replace(**{name: _draw_field(given, name, f"{flow}-{name}", more) for name in numbers})


def _draw_field(given: Record, name: str, key: str, more: dict[str, Any]) -> bool | float:
    label, _, hint = (type(given).model_fields[name].description or name).rstrip(".").partition("; ")
    value = st.session_state.get(key, getattr(given, name))
    told: dict[str, Any] = {"key": key, "help": hint or None, **more}
    if isinstance(value, bool):
        return st.toggle(label, value, **told)
    low = 0 if isinstance(value, int) else 0.0
    return st.number_input(label, low, value=value, **told)
