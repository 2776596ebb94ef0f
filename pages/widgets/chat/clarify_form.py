"""The form of a clarifying question: answers to pick, or own words; then the same search goes on."""

from __future__ import annotations

import streamlit as st

from agent.flows.chat.state import ChatRun
from agent.types import Status
from agent.workbench import RunSnapshot
from pages.widgets.chat import message_box, turn
from pages.widgets.run import controls
from pages.widgets.shell import client, drafts, escape, ui


def draw(view: RunSnapshot, state: ChatRun) -> None:
    """The form. A run that waits takes the answer itself; one that ended takes it as the next turn."""
    run_id = view.run.id
    picked, typed = f"chat-pick-{run_id}-{view.head}", f"clarify:{run_id}"
    with st.container(key="chat-clarify"):
        if state.own.choices:
            names = {str(n): choice for n, choice in enumerate(state.own.choices)}
            st.radio(
                "Pick one", list(names), index=None, key=picked, format_func=lambda n: escape.md(names[n])
            )
        controls.draw_recorded_act(view)
        label = "Or in your own words" if state.own.choices else "Your answer"
        drafts.text_area(label, typed, height=80)
        ui.button(
            "Answer",
            "chat-clarify-send",
            _send,
            view,
            tuple(state.own.choices),
            picked,
            typed,
            icon="reply",
            type="primary",
        )


def _send(view: RunSnapshot, choices: tuple[str, ...], picked: str, typed: str) -> None:
    own, pick = drafts.read(typed).strip(), st.session_state.get(picked)
    text = own or (choices[int(pick)] if pick is not None and int(pick) < len(choices) else "")
    if not text:
        client.set_notice("warning", "Pick an answer, or say it in your own words.")
        return
    run_id = view.run.id
    drafts.clear(typed)
    if view.run.status is Status.WAITING:
        client.act(run_id, "respond", view.head, text=text, then=lambda _: turn.request_stream(run_id))
    else:
        message_box.send_message(text, view.run.settings, run_id)
