"""Buttons, links, selects, numbers, headings, each in one form. Labels are Markdown: escape outside text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import streamlit as st

from agent.actions import acts
from agent.types import Status
from agent.workbench import RunSnapshot
from pages.widgets.shell import client

V = TypeVar("V")


def icon_code(name: str) -> str | None:
    """A Material icon as Streamlit wants it; None for no icon."""
    return f":material/{name}:" if name else None


def button(
    label: str, key: str, on_click: Callable[..., Any] | None = None, *args: Any, icon: str = "", **more: Any
) -> bool:
    """A button; `on_click` is called with `args`. Returns whether it was pressed just now."""
    return st.button(label, key=key, on_click=on_click, args=args, icon=icon_code(icon), **more)


def action(
    label: str, key: str, what: Callable[..., Any], *args: Any, icon: str = "", done: str = "", **more: Any
) -> None:
    """A button that calls the workbench; a refusal becomes a notice, and `done` is shown after success."""
    button(label, key, client.submit, what, *args, icon=icon, kwargs={"done": done}, **more)


def act(view: RunSnapshot, name: str, key: str, label: str = "", *, icon: str = "", **more: Any) -> None:
    """The button of an act, with the label of its table; nothing where it is not possible now. What it takes
    stands in `given`. A run at rest is to be as it was seen."""
    if acts.is_possible(name, view):
        head = None if view.run.status is Status.RUNNING else view.head
        given = {"done": more.pop("done", ""), **more.pop("given", {})}
        seen = (view.run.id, name, head)
        button(label or acts.ACTS[name].label, key, client.act, *seen, icon=icon, kwargs=given, **more)


def download(label: str, key: str, make: Callable[[], Any] | str, name: str, mime: str, **more: Any) -> None:
    """A button that saves a file; a callable makes its content at the click, in a thread that knows no
    session: it must hold the workbench that it needs."""
    st.download_button(label, make, name, mime, key=key, on_click="ignore", **more)


def link(page: str, label: str, icon: str = "", query: Mapping[str, Any] | None = None) -> None:
    """A link to another screen, with what its address says."""
    st.page_link(page, label=label, icon=icon_code(icon), query_params=query)  # type: ignore[arg-type]


def select(label: str, names: Mapping[V, str], key: str, **more: Any) -> V:
    """A list to choose from, by the shown names; returns the chosen value, the first when there is none."""
    options: list[Any] = list(names)
    more = {"filter_mode": None, **more}
    chosen = st.selectbox(label, options, key=key, format_func=lambda value: names[value], **more)
    return options[0] if chosen is None else chosen  # type: ignore[no-any-return]


def switch(label: str, names: Mapping[str, str], key: str, **more: Any) -> str:
    """A choice of few, one of which is always chosen: the first at first. Its label is for screen readers."""
    shown: Any = {"required": True, "label_visibility": "collapsed", "format_func": names.__getitem__, **more}
    first = next(iter(names))
    return st.segmented_control(label, list(names), default=first, key=key, **shown) or first


def number(label: str, low: int, high: int, value: int, key: str, step: int = 1, **more: Any) -> int:
    """A field for a whole number."""
    return int(st.number_input(label, low, high, value, step, key=key, **more))


def popover(label: str, name: str, icon: str, **more: Any) -> Any:
    """A popover whose content may be drawn only when its `open` is true. It has another key each time
    `close_popover` was called for it, so that it closes then and stays closed."""
    key = f"{name}-{st.session_state.get(f'{name}-done', 0)}"
    return st.popover(label, icon=icon_code(icon), key=key, on_change="rerun", **more)


def close_popover(name: str) -> None:
    """Close a popover: what it is for is done. Only in a callback."""
    st.session_state[f"{name}-done"] = st.session_state.get(f"{name}-done", 0) + 1


def private_box(name: str) -> None:
    """The box that makes the note of a draft private."""
    hint = "Who writes the answer reads it. It starts no search, and no export or share has a word of it."
    st.checkbox("Private: kept out of searches and exports", key=f"private:{name}", help=hint)


def is_private(name: str) -> bool:
    """Whether the note of a draft is private."""
    return bool(st.session_state.get(f"private:{name}"))


def heading(title: str, below: str = "") -> None:
    """A section's heading with what follows it, both HTML."""
    st.html(f'<div class="ts"><h2 class="ts-section">{title}</h2>{below}</div>')
