"""Reply: a conversation in, a reply from the knowledge base or silence out, each step of it shown. `?run=` in
the address names the run."""

from __future__ import annotations

from pages.widgets.forms import form_page
from pages.widgets.reply import form, run

form_page.draw_screen(form.draw, run.draw)
