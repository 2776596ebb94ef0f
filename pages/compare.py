"""Two runs side by side: `?run=` and `?with=` in the address name them, and survive a refresh."""

from __future__ import annotations

import streamlit as st

from agent.comparing import compare
from agent.errors import NotFound
from pages.widgets import comparison, door, headline

one, two = st.query_params.get("run", ""), st.query_params.get("with", "")
try:
    found = compare(door.workbench(), one, two)
except NotFound as missing:
    headline.missing("pair of runs", str(missing) if one and two else "Two runs are needed", "pages/research.py", "Ask a question")
else:
    comparison.draw(found)
