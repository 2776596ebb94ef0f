"""A conversation with the library: its turns, the newest followed while it works, and the box."""

from __future__ import annotations

import functools

import streamlit as st

from agent.types import Status
from agent.workbench import RunSnapshot
from pages.widgets.chat import message_box, scope, turn
from pages.widgets.evidence import facts
from pages.widgets.run import controls, pause_prompt, run_page, status_line
from pages.widgets.shell import client, drafts, polling, ui

PAGE = run_page.RunPage(
    flow="chat",
    noun="conversation",
    new_label="New conversation",
)
TABS = {
    "Passages": lambda view: st.html(turn.render_grades(view.state, view.run.id)),
    "Facts": facts.draw,
    "Activity": run_page.draw_activity,
}
SHOWN_THREAD_KEY, SHOW_ALL_KEY = "chat-shown", "chat-opened-all"
"""The conversation that is shown, and whether all its turns are."""
HINTS = dict.fromkeys((Status.STOPPED, Status.PAUSED), "Nothing is lost: continue, or ask something else.")
MAX_TURNS = 6
"""Turns that are drawn at first, the newest."""


def draw(run_id: str) -> None:
    """The conversation that a turn belongs to."""
    opened = run_page.open_thread(PAGE, run_id)
    if opened is None:
        return
    turns, newest = opened
    if st.session_state.get(SHOWN_THREAD_KEY) != turns[0]:
        st.session_state[SHOWN_THREAD_KEY] = turns[0]
        scope.reset()
    if scope.restore(newest.run.settings):
        message_box.restore()
    with st.container():  # keeps the place of the box below while a turn ends, so that it is not drawn twice
        run_page.follow(lambda view: _draw_live(turns[:-1], view), newest)
        if newest.run.status in (Status.DONE, Status.WAITING):
            polling.watch(newest, functools.partial(_has_newer_turn, newest.run.id))
    waits = newest.run.status is Status.WAITING
    message_box.draw(
        newest.run.settings,
        run_id=newest.run.id,
        status=newest.run.status,
        placeholder="Answer, or ask something else" if waits else "Ask a follow-up",
    )
    drafts.scroll_to(".st-key-chat-newest", turns[-1] if len(turns) > 1 else "")


def _draw_live(earlier: list[str], view: RunSnapshot) -> None:
    world = status_line.describe_world(view.run.settings)
    imported = " · opened from an evidence bundle" if view.run.imported else ""
    with st.container(horizontal=True, vertical_alignment="center", key="chat-head"):
        ui.link(PAGE.path, PAGE.new_label, "add", {})
        st.html(f'<div class="ts small soft">{world}{imported}</div>', width="content")
    client.show_notice("chat-talk")
    run_page.draw_panes(view, functools.partial(_draw_turns, earlier, view), TABS, "chat-tab")


def _draw_turns(turns: list[str], newest: RunSnapshot) -> None:
    """The turns before, of a long conversation the last ones, the others on demand; and the newest."""
    bench = client.workbench()
    hidden = 0 if st.session_state.get(SHOW_ALL_KEY) else max(0, len(turns) - MAX_TURNS)
    if hidden:
        st.toggle(f"Show all {len(turns) + 1} questions", key=SHOW_ALL_KEY)
    for run_id in turns[hidden:]:
        view = bench.snapshot(run_id)
        if view.run.settings.flow == PAGE.flow:
            with st.container(key=f"chat-turn-{run_id}", gap="small"):
                turn.draw(view, view.state)
    _draw_newest(newest)


def _draw_newest(view: RunSnapshot) -> None:
    state = view.state
    with st.container(key="chat-newest", gap="small"):
        if view.run.status is Status.RUNNING:
            turn.draw_question(view, state)
            st.html(turn.render_progress(view))
            pause_prompt.draw_outage(view)
            ui.act(view, "stop", "chat-stop", icon="stop")
            return
        if view.run.status in (Status.STOPPED, Status.PAUSED, Status.FAILED):
            st.html(f'<div class="ts">{status_line.render(view, HINTS)}</div>')
            pause_prompt.draw(view, in_bar=pause_prompt.is_answered(view))
            controls.draw(view)
        turn.draw(view, state, asks_back=state.own.needs_clarification)
        turn.draw_next_steps(view, state)


def _has_newer_turn(run_id: str) -> bool:
    """Whether another tab has asked a follow-up."""
    return (client.workbench().thread(run_id) or [run_id])[-1] != run_id
