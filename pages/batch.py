"""Batch: many questions from a table, side by side within a budget. `?batch=` names the batch shown."""

from __future__ import annotations

import streamlit as st

from pages.widgets.batch import form, run

batch_id = st.query_params.get("batch", "")
if batch_id:
    run.draw(batch_id)
else:
    form.draw()
