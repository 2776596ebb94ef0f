"""The way from the screens to the workbench: one for this process, and one manner of telling it something.

A screen asks `workbench()` directly. What a person tells it goes through `tell`, so that a refusal becomes a
notice on the screen that asked, and nothing typed is lost."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import streamlit as st

from agent.errors import ConcurrentChange, StoreError, UsageError
from agent.library.collection import Library
from agent.llm import detect
from agent.workbench import Workbench
from pages.widgets.shell import escape

_lock = threading.Lock()
_bench: list[Workbench] = []

NOTICE_KEY = "door-notice"
"""The session key of what is shown at the top: (kind, text, until when on the monotonic clock, screen)."""
NOTICE_S = 12.0
"""Seconds a notice stays: it must outlive the polls of a run that goes on."""


def workbench() -> Workbench:
    """The workbench of this process, opened with its workers at the first call."""
    with _lock:
        if not _bench:
            bench = Workbench()
            bench.start_workers()
            _bench.append(bench)
        return _bench[0]


def library() -> Library:
    """The library behind it."""
    return workbench().library


def explain_missing_model() -> str:
    """Why there is no model although one is set up; "" when there is one, or none was wanted."""
    active = workbench().active_configuration()
    return "" if active.model or active.model_detail == detect.NO_MODEL else active.model_detail


def close() -> None:
    """Let every run rest and close the store; the next `workbench()` opens anew."""
    with _lock:
        while _bench:
            _bench.pop().shutdown()


def submit(
    what: Callable[..., Any], *args: Any, done: str = "", then: Callable[[Any], None] | None = None
) -> None:
    """Do what a person asked for, as a button's callback; `then` gets what it returned, `done` is shown when
    it went well.

    A refusal is shown in its own words and changes nothing."""
    st.session_state.pop(NOTICE_KEY, None)
    try:
        result = what(*args)
    except ConcurrentChange as overtaken:
        set_notice("info", f"{_end_as_sentence(str(overtaken))} This is how it stands now.")
    except (UsageError, StoreError) as refused:
        set_notice("warning", _end_as_sentence(str(refused)))
    else:
        if then:
            then(result)
        if done:
            set_notice("success", done)


def set_notice(kind: str, text: str) -> None:
    """Show this for a while. `kind` is info, warning or success."""
    st.session_state[NOTICE_KEY] = (kind, text, time.monotonic() + NOTICE_S, "")


def show_notice(screen: str) -> None:
    """Draw what is to be told, as long as it is fresh, on the screen that draws it first.

    A refusal comes as a passing note in the corner, too: whoever pressed a button far down the page does not
    see its top."""
    kind, text, until, drawn_on = st.session_state.get(NOTICE_KEY, ("", "", 0.0, ""))
    if time.monotonic() > until or drawn_on not in ("", screen):
        st.session_state.pop(NOTICE_KEY, None)
        return
    st.session_state[NOTICE_KEY] = (kind, text, until, screen)
    draw = {"info": st.info, "warning": st.warning, "success": st.success}.get(kind)
    icons = {"info": ":material/info:", "warning": ":material/warning:", "success": ":material/check_circle:"}
    if draw:
        draw(escape.md(text), icon=icons[kind])
    if kind in ("info", "warning") and not drawn_on:
        st.toast(escape.md(text), icon=icons[kind], duration="long")


def _end_as_sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."
