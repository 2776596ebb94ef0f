"""Collect: start pages and a prompt, the walk as it goes, what it gathered. `?run=` names the run."""

from __future__ import annotations

from pages.widgets.collect import form, run
from pages.widgets.forms import form_page

form_page.draw_screen(form.draw, run.draw)
