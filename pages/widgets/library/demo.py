"""The demo's own sources: a small invented knowledge base and places, added with one button."""

from __future__ import annotations

import streamlit as st

from agent.library.ingest import DEMO_TAG
from agent.settings.reply_config import DEMO_KB
from pages.widgets.shell import client, ui


def is_demo_available() -> bool:
    """Does this copy of Touchstone carry them?"""
    return DEMO_KB.is_dir()


def is_demo_added() -> bool:
    """Are they in the library?"""
    return bool(client.library().count(tag=DEMO_TAG, kind="file"))


def draw_demo_button(*, then: str = "") -> None:
    """The button that adds them. `then`: a toggle that is switched on with it."""
    if is_demo_available() and not is_demo_added():
        ui.button("Add the demo knowledge base", "library-demo", _submit_demo, then, icon="cottage")


def _submit_demo(then: str) -> None:
    told = "The demo knowledge base is in the library, tagged “demo”. Everything in it is invented."
    switch = {then: True} if then else {}
    client.submit(client.library().add_demo, done=told, then=lambda _: st.session_state.update(switch))
