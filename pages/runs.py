"""All runs: find, open, compare, put into the bin, take out again."""

from __future__ import annotations

import streamlit as st

from pages.widgets.run import run_list

st.html('<div class="ts"><h1 class="ts-question">Runs</h1></div>')
run_list.draw()
