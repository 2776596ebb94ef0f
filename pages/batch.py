"""Batch: many questions from a table, side by side within a budget. `?batch=` names the batch shown."""

from __future__ import annotations

from pages.widgets.batch import form, run
from pages.widgets.forms import form_page

form_page.draw_screen(form.draw, run.draw, "batch")
