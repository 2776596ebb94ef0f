"""Sharing on a run's screen: make a link, and take it back."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode, urljoin

import streamlit as st

from agent.accounts.people import Person
from agent.actions.export import describe_withheld
from agent.workbench import RunSnapshot
from pages.widgets.shell import client, ui

MADE_KEY = "share-made"
"""The session key of (run, address) of a link just made: its key is stored nowhere."""


def draw(view: RunSnapshot) -> None:
    """The button, and behind it the links; nothing where nobody signs in."""
    owner = client.person()
    if owner is None:
        return
    run_id = view.run.id
    opened = ui.popover("Share", f"share-{run_id}", "share", help="Let others read this run by a link")
    if not opened.open:
        return
    with opened:
        who = "Whoever has the link and can sign in here reads the answer and its sources, no private note."
        st.caption(f"{who} {describe_withheld(client.workbench(), run_id)}")
        ui.button("Link to read", f"share-read-{run_id}", _create, run_id, icon="link")
        made_for, address = st.session_state.get(MADE_KEY, ("", ""))
        if made_for == run_id:
            st.code(address, language=None, wrap_lines=True)
            st.caption("Copy it now: it is not shown again.")
        shares = client.accounts().shares
        for share in shares.list_for_run(owner, run_id):
            with st.container(horizontal=True, vertical_alignment="center"):
                st.caption(f"Made {share.created_at[:16].replace('T', ' ')}")
                more: Any = {"icon": "link_off", "done": "The link opens nothing any more."}
                ui.action("Take back", f"share-end-{share.id}", shares.take_back, owner, share.id, **more)


def _create(run_id: str) -> None:
    def create(owner: Person) -> None:
        client.workbench().snapshot(run_id)
        _, key = client.accounts().shares.create(owner, run_id)
        address = urljoin(st.context.url or "", f"shared?{urlencode({'key': key})}")
        st.session_state[MADE_KEY] = (run_id, address)

    client.submit(create, client.require_person())
