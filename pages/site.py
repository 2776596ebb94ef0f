"""Ask a site: start pages and a question, the conversation, what was read. `?run=` names a turn of it."""

from __future__ import annotations

import streamlit as st

from pages.widgets.site import form, thread

run_id = st.query_params.get("run", "")
if run_id:
    thread.draw(run_id)
else:
    form.draw()
