"""Reply: a conversation in, a reply from the knowledge base or silence out, each step of it shown. `?run=` in
the address names the run."""

from __future__ import annotations

import streamlit as st

from pages.widgets.reply import form, run

run_id = st.query_params.get("run", "")
if run_id:
    run.draw(run_id)
else:
    form.draw()
