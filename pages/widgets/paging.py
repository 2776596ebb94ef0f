"""Long lists in pages: `part` gives what is shown, `turn` draws the way to the rest. The cost of a look does not grow with the list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import streamlit as st

T = TypeVar("T")


def part(items: Sequence[T], size: int, key: str) -> Sequence[T]:
    """The items of the page that is open."""
    first = (_at(len(items), size, key) - 1) * size
    return items[first : first + size]


def turn(total: int, size: int, key: str, noun: str) -> None:
    """The way to the other pages, when there is more than one, and which items are shown."""
    pages = _pages(total, size)
    if pages < 2:
        return
    at = _at(total, size, key)
    with st.container(horizontal=True, vertical_alignment="center", key=f"{key}-pages"):
        widget = f"{key}-turn-{pages}"  # a list that grows by a page gets another, which opens where the old one stood
        st.pagination(pages, default=at, key=widget, max_visible_pages=5, on_change=_turned, args=(key, widget))
        st.caption(f"{(at - 1) * size + 1:,} to {min(at * size, total):,} of {total:,} {noun}")


def _pages(total: int, size: int) -> int:
    return max(1, -(-total // size))


def _at(total: int, size: int, key: str) -> int:
    return min(max(1, int(st.session_state.get(key) or 1)), _pages(total, size))


def _turned(key: str, widget: str) -> None:
    st.session_state[key] = st.session_state[widget]
