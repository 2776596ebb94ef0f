"""An empty place that says what it is for and what to do next."""

from __future__ import annotations

import streamlit as st

from pages.widgets.shell import escape


def draw(title: str, next_thing: str) -> None:
    """What is not there, and what would bring it."""
    st.html(f'<div class="ts empty"><b>{escape.html(title)}</b>{escape.html(next_thing)}</div>')
