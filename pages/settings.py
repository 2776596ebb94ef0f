"""What is in use: model, engines, worlds, limits, folders. Each can be checked; no secret is shown."""

from __future__ import annotations

import streamlit as st

from agent.personal_config import PERSONAL_SETTINGS, is_personal
from pages.widgets.evidence import trust_form
from pages.widgets.shell import client, engine_panels, escape, markup, model_panels, status_panels

ELSEWHERE = {
    False: "to change anything else, edit the <b>.env</b> file beside the README and start again",
    True: "what you save holds for you alone, and anything else is set by an admin of this server",
}
is_own = is_personal(client.workbench().config)
active = client.workbench().active_configuration()
st.html(
    '<div class="ts"><h1 class="ts-question">Settings</h1>'
    '<p class="soft">What is in use now. The model and the search engines are set up here; '
    f"{ELSEWHERE[is_own]}.</p></div>"
)
model_panels.draw(active)
engine_panels.draw()
status_panels.draw_worlds(active)
status_panels.draw_limits()
trust_form.draw_for_all_runs()
st.html('<div class="ts"><h2 class="ts-section">All settings</h2></div>')
rows = [
    [f"<code>{escape.html(name)}</code>", escape.html(value) or "–", escape.html(text)]
    for name, value, text in active.values
    if not is_own or name in PERSONAL_SETTINGS
]
st.html(f'<div class="ts">{markup.table(["Name", "Value", "What it is"], rows, "stacked")}</div>')
