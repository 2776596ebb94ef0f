"""Two runs side by side: `?run=` and `?with=` in the address name them, and survive a refresh."""

from __future__ import annotations

import streamlit as st

from agent.errors import NotFound
from pages.widgets.run import comparison, run_page
from pages.widgets.shell import client

first_id, second_id = st.query_params.get("run", ""), st.query_params.get("with", "")
try:
    views = [client.workbench().snapshot(name) for name in (first_id, second_id)]
except NotFound as missing:
    run_page.draw_missing(
        "pair of runs",
        str(missing) if first_id and second_id else "Two runs are needed",
        "pages/research.py",
        "Ask a question",
    )
else:
    comparison.draw(*views)
