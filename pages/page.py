"""A stored page with the words that matter marked: quotes kept from it, or a passage that was found in the
library.

`?id=` names the page; `?run=` and `?fact=` a run and a quote it kept; `?with=` another version of it, to
compare; `?from=` and `?to=` a passage, `?find=` what was looked for."""

from __future__ import annotations

from pages.widgets.evidence import page_view

page_view.draw()
