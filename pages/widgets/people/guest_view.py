"""What a guest sees of a shared run, and what they can say about it."""

from __future__ import annotations

import streamlit as st

from agent.accounts.shares import MAX_COMMENT_CHARS, Share
from agent.actions.share import SharedRun, render_shared_run
from agent.errors import NotFound
from pages.widgets.shell import client, escape, ui

COMMENT_KEY = "shared-comment"
HEIGHT_PX = 900


def open_shared(key: str) -> tuple[Share, SharedRun]:
    """The share of a key and its run. Raises NotFound in the same words for all that cannot be opened."""
    share = client.accounts().shares.find(key)
    owner = client.accounts().people.get(share.owner_id)
    if not client.accounts().people.is_let_in(owner):
        raise NotFound("there is no such shared run")
    return share, render_shared_run(client.benches().open(owner), share.run_id)


def draw(key: str, share: Share, shared: SharedRun) -> None:
    """The document in a frame of its own, and the box."""
    who = client.accounts().people.get(share.owner_id).label
    st.set_page_config(page_title=f"{escape.shorten(shared.question, 50)} · Touchstone")
    st.html(
        f'<div class="ts"><p class="soft">A run of {escape.html(who)}, shared with you for reading'
        f"{' and comments' if share.may_comment else ''}.</p></div>"
    )
    st.iframe(shared.document, height=HEIGHT_PX)
    if share.may_comment:
        st.text_area("Your comment", key=COMMENT_KEY, max_chars=MAX_COMMENT_CHARS)
        ui.button(f"Send to {who}", "shared-send", _send, key, icon="send")


def _send(key: str) -> None:
    client.submit(
        client.accounts().shares.comment,
        key,
        client.require_person(),
        st.session_state.get(COMMENT_KEY, ""),
        then=lambda _: st.session_state.update({COMMENT_KEY: ""}),
        done="Your comment was sent.",
    )
