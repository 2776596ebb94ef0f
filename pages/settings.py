"""What is in use: model, engines, worlds, limits, where things are kept. Each part can be checked; no secret
is ever shown."""

from __future__ import annotations

import streamlit as st

from pages.widgets.evidence import trust_form
from pages.widgets.shell import client, engine_panels, escape, markup, model_panels, status_panels

active = client.workbench().active_configuration()
st.html(
    '<div class="ts"><h1 class="ts-question">Settings</h1>'
    '<p class="soft">What is in use now. The model and the search engines are set up here; to change '
    "anything else, edit the <b>.env</b> file beside the README and start again.</p></div>"
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
]
st.html(f'<div class="ts">{markup.table(["Name", "Value", "What it is"], rows, "stacked")}</div>')
