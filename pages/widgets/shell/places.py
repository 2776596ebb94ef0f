"""Fixed positions for the parts of a screen that are not always there."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import streamlit as st

F = TypeVar("F", bound=Callable[..., None])


def in_place(draw: F) -> F:
    """Draw a part inside a container of its own, which takes no room while the part draws nothing (not even
    another container).

    Streamlit knows what stands on a page by its position. Without the container all that follows an optional
    part moves when it comes or goes: for a moment a card holds the content of its neighbour, which is on the
    page twice; then the browser builds both anew and closes their menus."""

    @functools.wraps(draw)
    def draw_in_place(*args: Any, **more: Any) -> None:
        with st.container():
            draw(*args, **more)

    return draw_in_place  # type: ignore[return-value]
