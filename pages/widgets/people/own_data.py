"""A person's own data: take it along as a zip, or put all of it into the bin."""

from __future__ import annotations

import functools

import streamlit as st

from agent.accounts.people import Person
from agent.actions.personal_data import write_personal_data
from pages.widgets.shell import client, drafts, ui

CONFIRM_KEY = "you-delete-confirm"
CONFIRM_TEXT = "delete my data"


def draw(owner: Person) -> None:
    """Both, below each other."""
    st.html('<div class="ts"><h2 class="ts-section">Your data</h2></div>')
    make = functools.partial(write_personal_data, client.workbench(), client.accounts(), owner)
    ui.download(
        "Export my data",
        "you-export",
        make,
        "touchstone-data.zip",
        "application/zip",
        icon=":material/download:",
    )
    st.caption("One zip: your database, each run as Markdown, and what the server knows of you. No keys.")
    saved = ", saved keys" if owner.folder else ""  # those of the first admin are the server's
    with st.expander("Delete my data", icon=":material/delete:", key="you-delete"):
        st.write(
            f"All your runs, pages, facts, batches, saved sites{saved} and drafts go into the bin "
            "of this server; your share links and tokens end. Whoever runs it can bring the data back until "
            "they empty it, and from older backups. Your account stays."
        )
        st.text_input(f"To do so, type: {CONFIRM_TEXT}", key=CONFIRM_KEY)
        is_sure = st.session_state.get(CONFIRM_KEY, "").strip().casefold() == CONFIRM_TEXT
        ui.button("Delete all of it", "you-delete-all", _delete, icon="delete", disabled=not is_sure)


def _delete() -> None:
    owner = client.require_person()
    if st.session_state.pop(CONFIRM_KEY, "").strip().casefold() == CONFIRM_TEXT:
        drafts.forget_unstored()
        client.submit(client.benches().delete_data, owner, done="Your data is in the bin of this server.")
