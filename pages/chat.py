"""Chat: talk with what the library holds. `?run=` in the address names a turn of a conversation; `?source=`
and `?tag=` what to talk about."""

from __future__ import annotations

import streamlit as st

from pages.widgets.chat import form, thread

run_id = st.query_params.get("run", "")
if run_id:
    thread.draw(run_id)
else:
    form.draw()
