"""How a screen keeps up with a run or batch: every second at work, rarely at rest (other tabs)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from agent.types import Status
from agent.workbench import RunSnapshot, Workbench
from pages.widgets.shell import client

V = TypeVar("V")
SWITCHED_KEY = "following-left"
"""The session key that a callback sets when it has put another run into the address."""
POLL_S = 1.0
STEP_POLL_S = 0.25
"""Where a person decides on each step, and waits for the next one."""
FOLLOWERS_PER_S = 25
"""Screens drawn a second before all are drawn less often: one costs some 20 ms of one core."""
FOLLOWER_S = 20.0
"""Seconds for which a screen that was drawn counts as followed."""
_followers: dict[str, float] = {}
"""When each session last drew something at work."""
IDLE_POLL_S = 10.0
"""Seconds between two checks of a run that rests: nothing is drawn then, unless it changed."""
IDLE_STATUSES = (Status.PAUSED, Status.STOPPED, Status.FAILED, Status.REVIEW)
"""A decision that waits is not among them: it must not change under a person's pointer."""


def follow(
    load: Callable[[], V],
    is_moving: Callable[[V], bool],
    draw: Callable[[V], None],
    first: V,
    every: float = POLL_S,
) -> None:
    """Draw what `load` gives, every second (less often when many look) as long as it moves; `first` is its
    state now."""

    def live(moving: bool) -> None:
        if st.session_state.pop(SWITCHED_KEY, False):
            st.rerun()  # a button of the run led to another one: the address names it already
        now = load()
        if moving is not is_moving(now) or (moving and choose_pace(every) > pace):
            st.rerun()  # it came to rest (or woke up), or many look: the timer is set again, or not at all
        draw(now)

    moving = is_moving(first)
    pace = choose_pace(every) if moving else 0.0
    st.fragment(live, run_every=pace or None)(moving)


def wait_for_model(bench: Workbench) -> None:
    """Draw the screen again when the model's server has answered."""
    if bench.is_model_sought():
        follow(bench.is_model_sought, bool, lambda _: None, True)


def choose_pace(every: float = POLL_S) -> float:
    """Seconds between two drawings of a session that follows something now, by how many do."""
    context, now = get_script_run_ctx(), time.monotonic()
    _followers[context.session_id if context else ""] = now
    for session, at in _followers.copy().items():
        if now - at > FOLLOWER_S:
            _followers.pop(session, None)
    return every * math.ceil(len(_followers) / FOLLOWERS_PER_S)


def watch(view: RunSnapshot, check: Callable[[], bool] = lambda: False) -> None:
    """Draw the screen again when a run that rests has changed, or `check` says so."""
    st.fragment(_redraw_when_changed, run_every=IDLE_POLL_S)(view.run.id, view.head, view.run.status, check)


def _redraw_when_changed(run_id: str, head: int, status: Status, check: Callable[[], bool]) -> None:
    now = client.workbench().snapshot(run_id)
    if (now.head, now.run.status) != (head, status) or check():
        st.rerun()
