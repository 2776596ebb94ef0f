"""A conversation with the library on the screen: its turns, the newest followed while it works, and the box
to go on."""

from __future__ import annotations

import functools
from pathlib import Path

import streamlit as st

from agent.errors import NotFound
from agent.flows.chat.dialogue import conversation_kind
from agent.types import Status
from agent.workbench import RunSnapshot
from pages.widgets.chat import clarify_form, message_box, scope, trace, turn
from pages.widgets.run import controls
from pages.widgets.shell import client, drafts, empty_state, escape, polling, routes, ui

HERE = Path(__file__).parent.parent / "shell"
SHOWN_THREAD_KEY, SHOW_ALL_KEY = "chat-shown", "chat-opened-all"
"""The conversation that is shown, and whether all its turns are."""
MAX_TURNS = 6
"""Turns that are drawn at first, the newest."""


def draw(run_id: str) -> None:
    """The conversation that a turn belongs to."""
    st.html(HERE / "talk.css")
    bench = client.workbench()
    try:
        view = bench.snapshot(run_id)
    except NotFound:
        _draw_missing(f"There is no run called {escape.shorten(run_id, 40)}")
        return
    if conversation_kind(view.run.settings.flow) != "chat":
        _draw_missing("This run is no conversation with the library")
        place = routes.page_for_flow(view.run.settings.flow)
        ui.link(place, "Open it where it belongs", "arrow_forward", {"run": run_id})
        return
    turns = bench.thread(run_id) or [run_id]
    newest = bench.snapshot(turns[-1])
    if st.session_state.get(SHOWN_THREAD_KEY) != turns[0]:
        st.session_state[SHOWN_THREAD_KEY] = turns[0]
        scope.reset()
    if scope.restore(newest.run.settings):
        message_box.restore()
    st.set_page_config(page_title=f"{escape.shorten(newest.run.question, 50)} · Touchstone")
    drafts.install_script()
    with st.container():  # however much is said, the box below keeps its place on the screen: it is not drawn twice while a turn ends
        _draw_heading(newest, len(turns))
        _draw_earlier(turns[:-1])
        polling.poll_run(_draw_live, newest)
        if newest.run.status in (Status.DONE, Status.WAITING):
            st.fragment(_check_for_changes, run_every=polling.IDLE_POLL_S)(turns[-1], newest.head)
    message_box.draw(
        newest.run.settings,
        run_id=newest.run.id,
        status=newest.run.status,
        placeholder=_choose_placeholder(newest),
    )
    drafts.scroll_to(".st-key-chat-newest", turns[-1] if len(turns) > 1 else "")


def _draw_heading(view: RunSnapshot, turns: int) -> None:
    ui.link("pages/chat.py", "New conversation", "add", {})
    if view.run.settings.world != "live":
        st.html(
            '<div class="ts band" role="note"><b>With the demo’s sources.</b> They are invented: nothing in them is about the real world.</div>'
        )
    if view.run.imported:
        st.html(
            '<div class="ts band" role="note"><b>Imported.</b> This conversation was opened from an evidence bundle.</div>'
        )


def _draw_earlier(turns: list[str]) -> None:
    """The turns before; of a long conversation the last ones, the others on demand."""
    bench = client.workbench()
    hidden = 0 if st.session_state.get(SHOW_ALL_KEY) else max(0, len(turns) - MAX_TURNS)
    if hidden:
        st.toggle(f"Show all {len(turns) + 1} questions", key=SHOW_ALL_KEY)
    for run_id in turns[hidden:]:
        view = bench.snapshot(run_id)
        if conversation_kind(view.run.settings.flow) == "chat":
            with st.container(key=f"chat-turn-{run_id}", gap="small"):
                turn.draw(view, view.state)
                trace.draw_folded(view, view.state)


def _draw_live(run_id: str, moving: bool) -> None:
    view = client.workbench().snapshot(run_id)
    state = view.state
    if moving is not (view.run.status is Status.RUNNING):
        st.rerun()  # it came to rest (or woke up): the timer is set anew, or not at all
    with st.container(key="chat-newest", gap="small"):
        client.show_notice("chat-talk")
        if moving:
            turn.draw_question(view, state)
            st.html(trace.render_progress(view, state))
            ui.action("Stop", "chat-stop", client.workbench().stop, run_id, icon="stop")
            return
        slot = st.container(gap="small")
        if view.run.status in (Status.STOPPED, Status.PAUSED, Status.FAILED):
            st.html(trace.render_unfinished(view))
            controls.draw(view)
        turn.draw_next_steps(view, state)
        trace.draw_folded(view, state)
        form = functools.partial(clarify_form.draw, view, state) if state.own.needs_clarification else None
        with slot:  # drawn last: what is streamed takes its time, and nothing of the state before may stand below it meanwhile
            turn.draw(view, state, fresh=True, form=form)


def _check_for_changes(run_id: str, head: int) -> None:
    """Another tab may have asked on, or answered what was asked."""
    bench = client.workbench()
    if (bench.thread(run_id) or [run_id])[-1] != run_id or bench.snapshot(run_id).head != head:
        st.rerun()


def _choose_placeholder(newest: RunSnapshot) -> str:
    """What the box below is for: while a question back waits, what is typed there is its answer, too."""
    return "Answer the question above" if newest.run.status is Status.WAITING else "Ask a follow-up"


def _draw_missing(told: str) -> None:
    st.title("No such conversation")
    empty_state.draw(told, "It may have been begun on another computer or with another data folder.")
    with st.container(horizontal=True):
        ui.link("pages/chat.py", "Talk with the library", "add")
        ui.link("pages/runs.py", "See all runs", "history")
