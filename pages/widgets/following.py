"""How a screen keeps up with a run: every second while it works, with a rare look while it rests, since another tab may wake it."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from agent.types import Status
from agent.workbench import View
from pages.widgets import door

LEFT = "following-left"
"""The session key that a callback sets when it has put another run into the address."""
POLL_S = 1.0
LOOK_S = 10.0
"""Seconds between two looks at a run that rests: nothing is drawn then, unless somebody else has spoken."""
LOOKED_AT = (Status.PAUSED, Status.STOPPED, Status.FAILED, Status.REVIEW)
"""A decision that waits is not among them: it must not change under the pointer of who is about to approve it."""


def follow(draw: Callable[[str, bool], None], view: View) -> None:
    """Draw a run with `draw(run_id, moving)`, again and again as long as it works."""
    moving = view.run.status is Status.RUNNING

    def live(run_id: str, moving: bool) -> None:
        if st.session_state.pop(LEFT, False):
            st.rerun()  # a button of the run led to another one: the address names it already
        draw(run_id, moving)

    st.fragment(live, run_every=POLL_S if moving else None)(view.run.id, moving)
    if view.run.status in LOOKED_AT:
        st.fragment(_look, run_every=LOOK_S)(view.run.id, view.head, view.run.status)


def _look(run_id: str, head: int, status: Status) -> None:
    now = door.workbench().view(run_id)
    if (now.head, now.run.status) != (head, status):
        st.rerun()
