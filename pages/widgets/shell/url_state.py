"""What is chosen on a screen, kept in its address: a reload, a bookmark and a second tab show the same.

Streamlit's own `bind` writes a choice's label instead of its value, so this is done here: `recall` before the
widgets are drawn, `keep` after them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

LAST_QUERY_KEY = "address-seen"
"""The query of the run of the script before."""
UrlField = tuple[str, Any, Any]
"""A widget: its key, its value when nothing is chosen, and the values it may have (None: any text)."""


def sync() -> None:
    """Once at the beginning of a run of the script: what was asked for stands in the browser's address.

    Without it Streamlit keeps the address where only the query differs: a reload shows the wrong run."""
    now = {name: st.query_params.get_all(name) for name in st.query_params}
    if st.session_state.get(LAST_QUERY_KEY, now) != now:
        st.query_params.from_dict(now)
    st.session_state[LAST_QUERY_KEY] = now


def restore(choices: Mapping[str, UrlField]) -> None:
    """Set widgets drawn for the first time to what the address says, by name; misfits are left out."""
    for name, (key, plain, allowed) in choices.items():
        if key in st.session_state:
            continue
        value = _parse_value(st.query_params.get(name), plain)
        st.session_state[key] = (
            value if value is not None and (allowed is None or value in allowed) else plain
        )


def save(choices: Mapping[str, UrlField]) -> None:
    """Write what is chosen now into the address; what is as it was at first is left out."""
    for name, (key, plain, _) in choices.items():
        value = st.session_state.get(key, plain)
        text = "" if value in (None, plain) else str(int(value)) if isinstance(value, bool) else str(value)
        if text != st.query_params.get(name, ""):
            if text:
                st.query_params[name] = text
            else:
                st.query_params.pop(name, None)


def _parse_value(text: str | None, plain: Any) -> Any:
    """The text of an address as a value of the widget's kind; None when it is none."""
    if text is None:
        return None
    if isinstance(plain, bool):
        return text == "1"
    if isinstance(plain, int):
        return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
    return text
