"""Long lists in pages: `part` gives what is shown, `turn` draws the way to the rest. The cost of a look does
not grow with the list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import streamlit as st

from pages.widgets.shell import places

T = TypeVar("T")


def take_page(items: Sequence[T], size: int, key: str) -> Sequence[T]:
    """The items of the page that is open."""
    first = (_current_page(len(items), size, key) - 1) * size
    return items[first : first + size]


@places.in_place
def draw(total: int, size: int, key: str, noun: str) -> None:
    """The way to the other pages, when there is more than one, and which items are shown."""
    pages = _count_pages(total, size)
    if pages < 2:
        return
    at = _current_page(total, size, key)
    with st.container(horizontal=True, vertical_alignment="center", key=f"{key}-pages"):
        widget = f"{key}-turn-{pages}"  # another one when the list grows by a page; it opens at the same page
        st.pagination(
            pages, default=at, key=widget, max_visible_pages=5, on_change=_turn_page, args=(key, widget)
        )
        st.caption(f"{(at - 1) * size + 1:,} to {min(at * size, total):,} of {total:,} {noun}")


def _count_pages(total: int, size: int) -> int:
    return max(1, -(-total // size))


def _current_page(total: int, size: int, key: str) -> int:
    return min(max(1, int(st.session_state.get(key) or 1)), _count_pages(total, size))


def _turn_page(key: str, widget: str) -> None:
    st.session_state[key] = st.session_state[widget]
