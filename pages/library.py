"""The library: what every run has read and what people add; searched, opened, tagged, deleted and taken back.
`?view=` names the part."""

from __future__ import annotations

from pages.widgets.library import screen

screen.draw()
