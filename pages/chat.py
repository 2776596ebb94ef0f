"""Chat: talk with what the library holds. `?run=` in the address names a turn of a conversation; `?source=`
and `?tag=` what to talk about."""

from __future__ import annotations

from pages.widgets.chat import form, thread
from pages.widgets.forms import form_page

form_page.draw_screen(form.draw, thread.draw)
