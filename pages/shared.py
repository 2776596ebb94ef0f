"""A shared run, for a guest, who reads it."""

from __future__ import annotations

import streamlit as st

from agent.actions.export import render_shared_run
from agent.errors import NotFound
from pages.widgets.shell import client, empty_state, escape, ui

client.require_person()
client.show_notice("shared")
try:
    share = client.accounts().shares.find(st.query_params.get("key", ""))
    owner = client.accounts().people.get(share.owner_id)
    if not client.accounts().people.is_let_in(owner):
        raise NotFound("there is no such shared run")
    shared = render_shared_run(client.benches().open(owner), share.run_id)
except NotFound:  # in the same words for all that cannot be opened
    st.title("No such shared run")
    empty_state.draw("There is no such shared run", "The link may be incomplete, or its owner took it back.")
    ui.link("pages/research.py", "Ask a question of your own", "travel_explore")
else:
    st.set_page_config(page_title=f"{escape.shorten(shared.question, 50)} · Touchstone")
    told = f"A run of {escape.html(owner.label)}, shared with you to read."
    st.html(f'<div class="ts"><p class="soft">{told}</p></div>')
    st.iframe(shared.document, height=900)
