"""Settings: the model, search by meaning, the search engines. Each can be tried; no secret is shown."""

from __future__ import annotations

import streamlit as st

from agent.settings.config import is_personal
from pages.widgets.shell import client, escape, settings_panels

WHOSE = {"own": "Yours alone", "server": "This server, for everybody"}


def _forget_typed() -> None:
    """What was typed for one is not for the other."""
    for key in [name for name in st.session_state if str(name).startswith("settings-")]:
        del st.session_state[key]


owner = client.person()
if not (owner and owner.is_admin):
    st.session_state.pop(client.WHOSE_KEY, None)
bench = client.settings_bench()
st.html('<div class="ts"><h1 class="ts-question">Settings</h1></div>')
client.show_notice("settings")
if owner and owner.is_admin and owner.folder:
    more = {"format_func": WHOSE.get, "key": client.WHOSE_KEY, "on_change": _forget_typed}
    st.segmented_control("Settings of", list(WHOSE), default="own", required=True, **more)
settings_panels.draw_models(bench.active_configuration())
settings_panels.draw_engines()
rest = "What you save holds for you alone; an admin of this server sets anything else."
if not is_personal(bench.config):
    folder = escape.html(str(bench.config.data_folder))
    rest = f"Runs, pages and drafts lie in <code>{folder}</code>. docs/settings.md lists all other settings."
st.html(f'<div class="ts"><p class="small soft">{rest}</p></div>')
