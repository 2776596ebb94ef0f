"""The front page: ask a question, watch the research, decide. `?run=` in the address names the run that is
shown."""

from __future__ import annotations

import streamlit as st

from pages.widgets.research import research_form, research_run

run_id = st.query_params.get("run", "")
if run_id:
    research_run.draw(run_id)
else:
    research_form.draw()
