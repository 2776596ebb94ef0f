"""What is in use: model, engines, worlds, limits, folders. Each can be checked; no secret is shown."""

from __future__ import annotations

import streamlit as st

from agent.settings.config import PERSONAL_SETTINGS, is_personal
from pages.widgets.shell import client, engine_panels, escape, markup, model_panels, status_panels

ELSEWHERE = {
    False: "to change anything else, edit the <b>.env</b> file beside the README and start again",
    True: "what you save holds for you alone, and anything else is set by an admin of this server",
}
WHOSE = {"own": "Yours alone", "server": "This server, for everybody"}


def _forget_typed() -> None:
    """What was typed for one is not for the other."""
    for key in [name for name in st.session_state if str(name).startswith("settings-")]:
        del st.session_state[key]


owner = client.person()
if not (owner and owner.is_admin):
    st.session_state.pop(client.WHOSE_KEY, None)
bench = client.settings_bench()
is_own = is_personal(bench.config)
active = bench.active_configuration()
st.html(
    '<div class="ts"><h1 class="ts-question">Settings</h1>'
    '<p class="soft">What is in use now. The model and the search engines are set up here; '
    f"{ELSEWHERE[is_own]}.</p></div>"
)
if owner and owner.is_admin and owner.folder:
    more = {"format_func": WHOSE.get, "key": client.WHOSE_KEY, "on_change": _forget_typed}
    st.segmented_control("Settings of", list(WHOSE), default="own", required=True, **more)
model_panels.draw(active)
engine_panels.draw()
status_panels.draw_worlds()
status_panels.draw_limits()
st.html('<div class="ts"><h2 class="ts-section">All settings</h2></div>')
rows = [
    [f"<code>{escape.html(name)}</code>", escape.html(value) or "–", escape.html(text)]
    for name, value, text in active.values
    if not is_own or name in PERSONAL_SETTINGS
]
st.html(f'<div class="ts">{markup.table(["Name", "Value", "What it is"], rows, "stacked")}</div>')
