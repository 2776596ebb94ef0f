"""How a screen keeps up with a run: every second while it works, with a rare look while it rests, since
another tab may wake it."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from agent.types import Status
from agent.workbench import RunSnapshot
from pages.widgets.shell import client

SWITCHED_KEY = "following-left"
"""The session key that a callback sets when it has put another run into the address."""
POLL_S = 1.0
IDLE_POLL_S = 10.0
"""Seconds between two looks at a run that rests: nothing is drawn then, unless somebody else has spoken."""
IDLE_STATUSES = (Status.PAUSED, Status.STOPPED, Status.FAILED, Status.REVIEW)
"""A decision that waits is not among them: it must not change under the pointer of who is about to approve
it."""


def poll_run(draw: Callable[[str, bool], None], view: RunSnapshot) -> None:
    """Draw a run with `draw(run_id, moving)`, again and again as long as it works."""
    moving = view.run.status is Status.RUNNING

    def live(run_id: str, moving: bool) -> None:
        if st.session_state.pop(SWITCHED_KEY, False):
            st.rerun()  # a button of the run led to another one: the address names it already
        draw(run_id, moving)

    st.fragment(live, run_every=POLL_S if moving else None)(view.run.id, moving)
    if view.run.status in IDLE_STATUSES:
        st.fragment(_check_for_changes, run_every=IDLE_POLL_S)(view.run.id, view.head, view.run.status)


def _check_for_changes(run_id: str, head: int, status: Status) -> None:
    now = client.workbench().snapshot(run_id)
    if (now.head, now.run.status) != (head, status):
        st.rerun()
