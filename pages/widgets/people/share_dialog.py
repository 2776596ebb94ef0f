"""Sharing on a run's screen: make a link, take it back, and read what guests wrote."""

from __future__ import annotations

from urllib.parse import urlencode, urlsplit

import streamlit as st

from agent.accounts.people import Person
from agent.accounts.shares import Share
from agent.workbench import RunSnapshot
from pages.widgets.shell import client, escape, places, ui

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
        st.caption("Whoever has the link and can sign in here reads the run, without your private notes.")
        with st.container(horizontal=True):
            ui.button("Link to read", f"share-read-{run_id}", _create, run_id, False, icon="link")
            name = f"share-comment-{run_id}"
            ui.button("Link to comment", name, _create, run_id, True, icon="add_comment")
        made_for, address = st.session_state.get(MADE_KEY, ("", ""))
        if made_for == run_id:
            st.code(address, language=None, wrap_lines=True)
            st.caption("Copy it now: it is not shown again.")
        for share in client.accounts().shares.list_for_run(owner, run_id):
            _draw_share(share)


@places.in_place
def draw_comments(view: RunSnapshot) -> None:
    """What guests wrote about the run; it changes nothing in it."""
    owner = client.person()
    comments = client.accounts().shares.list_comments(owner, view.run.id) if owner else []
    if not comments:
        return
    rows = "".join(
        f'<p><b>{escape.html(comment.author)}</b> <span class="small soft">{comment.at[:10]}</span><br>'
        f"{escape.html(comment.text)}</p>"
        for comment in comments
    )
    st.html(f'<div class="ts"><h2 class="ts-section">Comments of guests</h2>{rows}</div>')


def _draw_share(share: Share) -> None:
    kind = "To comment" if share.may_comment else "To read"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"{kind}, made {share.created_at[:16].replace('T', ' ')}")
        ui.button("Take back", f"share-end-{share.id}", _take_back, share.id, icon="link_off")


def _create(run_id: str, may_comment: bool) -> None:
    def create(owner: Person) -> None:
        client.workbench().snapshot(run_id)
        _, key = client.accounts().shares.create(owner, run_id, may_comment=may_comment)
        base = urlsplit(st.context.url or "")
        prefix = base.path.rpartition("/")[0]
        address = f"{base.scheme}://{base.netloc}{prefix}/shared?{urlencode({'key': key})}"
        st.session_state[MADE_KEY] = (run_id, address)

    client.submit(create, client.require_person())


def _take_back(share_id: str) -> None:
    owner = client.require_person()
    client.submit(
        client.accounts().shares.take_back, owner, share_id, done="The link opens nothing any more."
    )
