"""Check a text: each claim of a report or article against the source it cites. `?run=` names the run."""

from __future__ import annotations

from pages.widgets.check_text import form, run
from pages.widgets.forms import form_page

form_page.draw_screen(form.draw, run.draw)
