"""The form of a clarifying question: answers to pick, or own words; then the same search goes on."""

from __future__ import annotations

import streamlit as st

from agent.flows.chat.state import ChatRun
from agent.types import Status
from agent.workbench import RunSnapshot
from pages.widgets.chat import message_box
from pages.widgets.run import controls
from pages.widgets.shell import client, drafts, escape, ui


def draw(view: RunSnapshot, state: ChatRun) -> None:
    """The form. A run that waits takes the answer itself; one that ended takes it as the next turn."""
    typed, choices = f"clarify:{view.run.id}", state.own.choices
    with st.container(key="chat-clarify"):
        for n, choice in enumerate(choices):
            ui.button(escape.md(choice), f"chat-pick-{n}", _send, view, choice, typed, icon="reply")
        controls.draw_recorded_act(view)
        drafts.text_area("Or in your own words" if choices else "Your answer", typed, height=68)
        ui.button("Answer", "chat-clarify-send", _send, view, "", typed, icon="reply", type="primary")


def _send(view: RunSnapshot, picked: str, typed: str) -> None:
    run_id, text = view.run.id, picked or drafts.read(typed).strip()
    if not text:
        client.set_notice("warning", "Pick an answer, or say it in your own words.")
        return
    if view.run.status is Status.WAITING:
        client.act(run_id, "respond", view.head, text=text, then=lambda _: drafts.clear(typed))
    else:
        message_box.send_message(text, view.run.settings, run_id, typed)
