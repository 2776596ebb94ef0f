"""The demo's own sources: a small invented knowledge base and places, added with one button."""

from __future__ import annotations

import streamlit as st

from agent.settings.config import ROOT
from agent.settings.reply_config import DEMO_KB
from pages.widgets.shell import client, ui

DEMO_TAG = "demo"
PLACES_FILE = ROOT / "demo" / "facilities.csv"


def is_demo_available() -> bool:
    """Does this copy of Touchstone carry them?"""
    return DEMO_KB.is_dir()


def is_demo_added() -> bool:
    """Are they in the library?"""
    return bool(client.library().count(tag=DEMO_TAG, kind="file"))


def add_demo() -> list[str]:
    """Put them into the library, tagged; what is there stays as it is. Returns their ids."""
    shelf = client.library()
    added = shelf.add_folder(DEMO_KB, tags=[DEMO_TAG]).sources
    if PLACES_FILE.is_file():
        added += [shelf.add_file(PLACES_FILE.name, PLACES_FILE.read_bytes(), tags=[DEMO_TAG])]
    return [source.source_id for source in added]


def draw_demo_button(*, then: str = "") -> None:
    """The button that adds them. `then`: a toggle that is switched on with it."""
    if is_demo_available() and not is_demo_added():
        ui.button("Add the demo knowledge base", "library-demo", _submit_demo, then, icon="cottage")


def _submit_demo(then: str) -> None:
    def done(_: list[str]) -> None:
        if then:
            st.session_state[then] = True

    client.submit(
        add_demo,
        done="The demo knowledge base is in the library, tagged “demo”. Everything in it is invented.",
        then=done,
    )
