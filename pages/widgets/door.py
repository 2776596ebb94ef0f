"""The way from the screens to the workbench: one for this process, and one manner of telling it something.

A screen asks `workbench()` directly. What a person tells it goes through `tell`, so that a refusal becomes a notice on the screen
that asked, and nothing typed is lost.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import streamlit as st

from agent.errors import Overtaken, StoreError, UsageError
from agent.holdings import Library
from agent.llm import detect
from agent.workbench import Workbench
from pages.widgets import safe

_lock = threading.Lock()
_bench: list[Workbench] = []

NOTICE = "door-notice"
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


def holdings() -> Library:
    """The library behind it."""
    return workbench().holdings


def model_trouble() -> str:
    """Why there is no model although one is set up; "" when there is one, or none was wanted."""
    active = workbench().active()
    return "" if active.model or active.model_detail == detect.NOTHING else active.model_detail


def close() -> None:
    """Let every run rest and close the store; the next `workbench()` opens anew."""
    with _lock:
        while _bench:
            _bench.pop().shutdown()


def tell(what: Callable[..., Any], *args: Any, done: str = "", then: Callable[[Any], None] | None = None) -> None:
    """Do what a person asked for, as a button's callback; `then` gets what it returned, `done` is shown when it went well.

    A refusal is shown in its own words and changes nothing.
    """
    st.session_state.pop(NOTICE, None)
    try:
        result = what(*args)
    except Overtaken as overtaken:
        notice("info", f"{_sentence(str(overtaken))} This is how it stands now.")
    except (UsageError, StoreError) as refused:
        notice("warning", _sentence(str(refused)))
    else:
        if then:
            then(result)
        if done:
            notice("success", done)


def notice(kind: str, text: str) -> None:
    """Show this for a while. `kind` is info, warning or success."""
    st.session_state[NOTICE] = (kind, text, time.monotonic() + NOTICE_S, "")


def show_notice(screen: str) -> None:
    """Draw what is to be told, as long as it is fresh, on the screen that draws it first.

    A refusal comes as a passing note in the corner, too: whoever pressed a button far down the page does not see its top.
    """
    kind, text, until, drawn_on = st.session_state.get(NOTICE, ("", "", 0.0, ""))
    if time.monotonic() > until or drawn_on not in ("", screen):
        st.session_state.pop(NOTICE, None)
        return
    st.session_state[NOTICE] = (kind, text, until, screen)
    draw = {"info": st.info, "warning": st.warning, "success": st.success}.get(kind)
    icons = {"info": ":material/info:", "warning": ":material/warning:", "success": ":material/check_circle:"}
    if draw:
        draw(safe.md(text), icon=icons[kind])
    if kind in ("info", "warning") and not drawn_on:
        st.toast(safe.md(text), icon=icons[kind], duration="long")


def _sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."
