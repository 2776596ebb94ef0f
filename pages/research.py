"""The front page: ask a question, watch the research, decide. `?run=` names the run that is shown."""

from __future__ import annotations

import streamlit as st

from pages.widgets.research import form, run

run_id = st.query_params.get("run", "")
if run_id:
    run.draw(run_id)
else:
    form.draw()
