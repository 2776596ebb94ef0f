"""The front page: ask a question, watch the research, decide. `?run=` names the run that is shown."""

from __future__ import annotations

from pages.widgets.forms import form_page
from pages.widgets.research import form, run

form_page.draw_screen(form.draw, run.draw)
