"""A conversation with the library on the screen: its turns, the newest followed while it works, and the box to go on."""

from __future__ import annotations

import functools
from pathlib import Path

import streamlit as st

from agent.errors import NotFound
from agent.flows.chat_state import Chat
from agent.types import Status
from agent.workbench import View
from pages.widgets import chat_clarify, chat_details, chat_say, chat_scope, chat_turn, controls, door, drafts, empty, following, safe, screens

HERE = Path(__file__).parent
SHOWN, OPENED = "chat-shown", "chat-opened-all"
"""The conversation that is shown, and whether all its turns are."""
TURNS = 6
"""Turns that are drawn at first, the newest."""


def draw(run_id: str) -> None:
    """The conversation that a turn belongs to."""
    st.html(HERE / "talk.css")
    bench = door.workbench()
    try:
        view = bench.view(run_id)
    except NotFound:
        _missing(f"There is no run called {safe.shorten(run_id, 40)}")
        return
    if not isinstance(view.state, Chat):
        _missing("This run is no conversation with the library")
        place = screens.of(view.run.settings.flow)
        st.page_link(place, label="Open it where it belongs", query_params={"run": run_id}, icon=":material/arrow_forward:")
        return
    turns = bench.thread(run_id) or [run_id]
    newest = bench.view(turns[-1])
    if st.session_state.get(SHOWN) != turns[0]:
        st.session_state[SHOWN] = turns[0]
        chat_scope.forget()
    if chat_scope.recall(newest.run.settings):
        chat_say.restore()
    st.set_page_config(page_title=f"{safe.shorten(newest.run.question, 50)} · Touchstone")
    drafts.keep()
    with st.container():  # however much is said, the box below keeps its place on the screen: it is not drawn twice while a turn ends
        _heading(newest, len(turns))
        _earlier(turns[:-1])
        following.follow(_live, newest)
        if newest.run.status in (Status.DONE, Status.WAITING):
            st.fragment(_look, run_every=following.LOOK_S)(turns[-1], newest.head)
    chat_say.draw(newest.run.settings, run_id=newest.run.id, status=newest.run.status, placeholder=_asks(newest))
    drafts.show(".st-key-chat-newest", turns[-1] if len(turns) > 1 else "")


def _heading(view: View, turns: int) -> None:
    st.page_link("pages/chat.py", label="New conversation", icon=":material/add:", query_params={})
    if view.run.settings.world != "live":
        st.html('<div class="ts band" role="note"><b>With the demo’s sources.</b> They are invented: nothing in them is about the real world.</div>')
    if view.run.imported:
        st.html('<div class="ts band" role="note"><b>Imported.</b> This conversation was opened from an evidence bundle.</div>')


def _earlier(turns: list[str]) -> None:
    """The turns before; of a long conversation the last ones, the others on demand."""
    bench = door.workbench()
    hidden = 0 if st.session_state.get(OPENED) else max(0, len(turns) - TURNS)
    if hidden:
        st.toggle(f"Show all {len(turns) + 1} questions", key=OPENED)
    for run_id in turns[hidden:]:
        view = bench.view(run_id)
        if isinstance(view.state, Chat):
            with st.container(key=f"chat-turn-{run_id}", gap="small"):
                chat_turn.draw(view, view.state)
                chat_details.fold(view, view.state)


def _live(run_id: str, moving: bool) -> None:
    view = door.workbench().view(run_id)
    state = view.state
    if moving is not (view.run.status is Status.RUNNING):
        st.rerun()  # it came to rest (or woke up): the timer is set anew, or not at all
    if not isinstance(state, Chat):
        return
    with st.container(key="chat-newest", gap="small"):
        door.show_notice("chat-talk")
        if moving:
            chat_turn.asked(view, state)
            st.html(chat_details.progress(view, state))
            st.button("Stop", key="chat-stop", icon=":material/stop:", on_click=door.tell, args=(door.workbench().stop, run_id))
            return
        turn = st.container(gap="small")
        if view.run.status in (Status.STOPPED, Status.PAUSED, Status.FAILED):
            st.html(chat_details.rests(view))
            controls.draw(view)
        chat_turn.onwards(view, state)
        chat_details.fold(view, state)
        form = functools.partial(chat_clarify.draw, view, state) if state.needs_clarification else None
        with turn:  # drawn last: what is streamed takes its time, and nothing of the state before may stand below it meanwhile
            chat_turn.draw(view, state, fresh=True, form=form)


def _look(run_id: str, head: int) -> None:
    """Another tab may have asked on, or answered what was asked."""
    bench = door.workbench()
    if (bench.thread(run_id) or [run_id])[-1] != run_id or bench.view(run_id).head != head:
        st.rerun()


def _asks(newest: View) -> str:
    """What the box below is for: while a question back waits, what is typed there is its answer, too."""
    return "Answer the question above" if newest.run.status is Status.WAITING else "Ask on"


def _missing(told: str) -> None:
    st.title("No such conversation")
    empty.draw(told, "It may have been begun on another computer or with another data folder.")
    with st.container(horizontal=True):
        st.page_link("pages/chat.py", label="Talk with the library", icon=":material/add:")
        st.page_link("pages/runs.py", label="See all runs", icon=":material/history:")
