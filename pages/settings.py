"""What is in use: model, engines, worlds, limits, where things are kept. Each part can be checked; no secret is ever shown."""

from __future__ import annotations

import streamlit as st

from pages.widgets import door, safe, switchboard, trusts

active = door.workbench().active()
st.html(
    '<div class="ts"><h1 class="ts-question">Settings</h1>'
    '<p class="soft">What is in use now. To change it, edit the <b>.env</b> file beside the README and start again.</p></div>'
)
switchboard.model(active)
switchboard.engines(active)
switchboard.worlds(active)
switchboard.limits()
trusts.everywhere()
st.html('<div class="ts"><h2 class="ts-section">All settings</h2></div>')
rows = "".join(
    f"<tr><td><code>{safe.html(name)}</code></td><td>{safe.html(value) or '–'}</td><td>{safe.html(text)}</td></tr>"
    for name, value, text in active.values
)
st.html(f'<div class="ts scroll"><table><tr><th>Name</th><th>Value</th><th>What it is</th></tr>{rows}</table></div>')
