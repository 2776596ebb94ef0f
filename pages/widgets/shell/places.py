"""Fixed positions for the parts of a screen that are not always there."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import streamlit as st

P = ParamSpec("P")
V = TypeVar("V")


def in_place(draw: Callable[P, V]) -> Callable[P, V]:
    """Draw a part inside a container of its own, which takes no room while the part draws nothing (not even
    another container).

    Streamlit knows what stands on a page by its position. Without the container all that follows an optional
    part moves by one when it comes or goes: for a moment a card holds the content of its neighbour, which is
    on the page twice; then the browser builds both anew, closes their menus, and loses a click in between."""

    @functools.wraps(draw)
    def draw_in_place(*args: P.args, **more: P.kwargs) -> V:
        with st.container():
            return draw(*args, **more)

    return draw_in_place
