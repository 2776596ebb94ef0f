"""All runs: find, open, put into the bin, take out again."""

from __future__ import annotations

import streamlit as st

from pages.widgets.run import bundle_import, run_list
from pages.widgets.shell import empty_state, ui

st.html('<div class="ts"><h1 class="ts-question">Runs</h1></div>')
run_list.draw_filters()
bundle_import.draw()
runs = run_list.find_runs()
if runs:
    run_list.draw(runs)
elif run_list.is_filtered():
    empty_state.draw("No run fits", "Change the words or the state above.")
else:
    empty_state.draw("No runs yet", "Ask a question on the Research page; everything you start is kept here.")
    ui.link("pages/research.py", "Ask a question", "travel_explore")
