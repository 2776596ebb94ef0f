"""Collect: start pages and a prompt, the walk as it goes, what it gathered. `?run=` names the run."""

from __future__ import annotations

import streamlit as st

from pages.widgets.collect import form, run

run_id = st.query_params.get("run", "")
if run_id:
    run.draw(run_id)
else:
    form.draw()
