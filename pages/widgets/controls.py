"""What a person may do with a run: pause, go on, stop, have it answer now, give it a note; accept or send back its answer."""

from __future__ import annotations

import streamlit as st

from agent import budgeting
from agent.types import Status
from agent.workbench import View
from pages.widgets import door, drafts, exports, halted, words

NOTE = "research-steer"
GOING = (Status.RUNNING, Status.WAITING, Status.PAUSED)
RESUMABLE = {Status.PAUSED: "Resume", Status.STOPPED: "Go on", Status.FAILED: "Try again"}


def draw(view: View) -> None:
    """The row of buttons that fit how the run stands."""
    run_id, status, bench = view.run.id, view.run.status, door.workbench()
    if status not in (*GOING, *RESUMABLE):
        return
    with st.container(horizontal=True, vertical_alignment="center", key="research-controls"):
        if status is Status.RUNNING:
            st.button("Pause", icon=":material/pause:", key="research-pause", on_click=door.tell, args=(bench.pause, run_id))
        asks = halted.asked(view) is not None  # its own card has the ways to go on
        if status in RESUMABLE and not asks:
            label = RESUMABLE[status]
            st.button(label, icon=":material/play_arrow:", key="research-resume", on_click=door.tell, args=(bench.resume, run_id), type="primary")
        if status in GOING:
            st.button("Stop", icon=":material/stop:", key="research-stop", on_click=door.tell, args=(bench.stop, run_id))
        if status in (*GOING, Status.STOPPED, Status.FAILED) and view.state.facts and not asks:
            hint = "Write the answer from what was found so far"
            st.button("Answer now", icon=":material/edit_note:", key="research-finish", help=hint, on_click=door.tell, args=(bench.finish, run_id))
        if status in (*GOING, Status.STOPPED):
            with st.popover("Give a note", icon=":material/sticky_note_2:", key=NOTE, on_change="rerun"):
                _note(run_id)
        if view.run.settings.flow == "research":
            _until(view)
        if status is not Status.RUNNING and not view.state.answers:
            exports.menu(view)


def _until(view: View) -> None:
    """How far it goes by itself; another choice holds from its next decision on."""
    key = f"research-until-{view.run.id}"
    st.session_state[key] = view.run.settings.stops_at
    st.selectbox(
        "Run until", list(words.UNTIL), key=key, format_func=lambda until: f"Run {words.UNTIL[until]}", on_change=_run_until,
        args=(view.run.id, key), label_visibility="collapsed", width=260, filter_mode=None,
    )  # fmt: skip


def _run_until(run_id: str, key: str) -> None:
    door.tell(budgeting.run_until, door.workbench(), run_id, st.session_state[key])


def review(view: View) -> None:
    """Accept the answer, or send it back with a note (then the same run goes on); take it along."""
    run_id, head, bench = view.run.id, view.head, door.workbench()
    with st.container(horizontal=True, vertical_alignment="center", key="research-review"):
        if view.run.status is Status.REVIEW:
            st.button("Accept", type="primary", icon=":material/check:", key="research-accept", on_click=door.tell, args=(bench.accept, run_id, head))
            with st.popover("Send back", icon=":material/undo:", key="research-send-back"):
                key, draft = f"research-back-{run_id}", f"back:{run_id}"
                drafts.area("What is wrong or missing?", key, draft, placeholder="e.g. Which year? Check the registry's own page.")
                st.button("Send back and go on", type="primary", key="research-back-send", on_click=_send_back, args=(run_id, head, key, draft))
        exports.menu(view)


def _send_back(run_id: str, head: int, key: str, draft: str) -> None:
    door.tell(door.workbench().send_back, run_id, head, st.session_state.get(key, ""), then=lambda _: drafts.sent(key, draft))


def _note(run_id: str) -> None:
    key, draft = f"research-note-{run_id}", f"note:{run_id}"
    drafts.area("A note the next decision obeys", key, draft, placeholder="e.g. Only use the public registry. Look for the year, too.")
    st.button("Send note", type="primary", key="research-note-send", on_click=_send_note, args=(run_id, key, draft))


def _send_note(run_id: str, key: str, draft: str) -> None:
    told = "Noted. The next decision takes it up."
    door.tell(door.workbench().steer, run_id, st.session_state.get(key, ""), done=told, then=lambda _: _noted(key, draft))


def _noted(key: str, draft: str) -> None:
    drafts.sent(key, draft)
    st.session_state[NOTE] = False  # the popover closes
