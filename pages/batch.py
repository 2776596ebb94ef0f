"""Batch: many questions from a table, asked side by side within a budget. `?batch=` in the address names the
batch that is shown."""

from __future__ import annotations

import streamlit as st

from pages.widgets.batch import form, run

batch_id = st.query_params.get("batch", "")
if batch_id:
    run.draw(batch_id)
else:
    form.draw()
