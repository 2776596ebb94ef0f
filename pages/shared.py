"""A shared run, for a guest, who reads it."""

from __future__ import annotations

import streamlit as st

from agent.errors import NotFound
from pages.widgets.people import guest_view
from pages.widgets.shell import client, empty_state, ui

client.require_person()
client.show_notice("shared")
key = st.query_params.get("key", "")
try:
    share, shared = guest_view.open_shared(key)
except NotFound:
    st.title("No such shared run")
    empty_state.draw("There is no such shared run", "The link may be incomplete, or its owner took it back.")
    ui.link("pages/research.py", "Ask a question of your own", "travel_explore")
else:
    guest_view.draw(share, shared)
