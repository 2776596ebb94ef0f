"""Ask a site: start pages and a question, the conversation, what was read. `?run=` names a turn of it."""

from __future__ import annotations

from pages.widgets.forms import form_page
from pages.widgets.site import form, thread

form_page.draw_screen(form.draw, thread.draw)
