"""Check a text: each claim of a report or article against the source it cites. `?run=` names the run."""

from __future__ import annotations

import streamlit as st

from pages.widgets.check_text import form, run

run_id = st.query_params.get("run", "")
if run_id:
    run.draw(run_id)
else:
    form.draw()
