"""What a guest sees of a shared run."""

from __future__ import annotations

import streamlit as st

from agent.accounts.tokens import Share
from agent.actions.export import SharedRun, render_shared_run
from agent.errors import NotFound
from pages.widgets.shell import client, escape

HEIGHT_PX = 900


def open_shared(key: str) -> tuple[Share, SharedRun]:
    """The share of a key and its run. Raises NotFound in the same words for all that cannot be opened."""
    share = client.accounts().shares.find(key)
    owner = client.accounts().people.get(share.owner_id)
    if not client.accounts().people.is_let_in(owner):
        raise NotFound("there is no such shared run")
    return share, render_shared_run(client.benches().open(owner), share.run_id)


def draw(share: Share, shared: SharedRun) -> None:
    """The document in a frame of its own."""
    who = client.accounts().people.get(share.owner_id).label
    st.set_page_config(page_title=f"{escape.shorten(shared.question, 50)} · Touchstone")
    st.html(
        f'<div class="ts"><p class="soft">A run of {escape.html(who)}, shared with you to read.</p></div>'
    )
    st.iframe(shared.document, height=HEIGHT_PX)
