"""The library: what runs read and people add; searched, opened, tagged, deleted. `?view=` names the part."""

from __future__ import annotations

from pages.widgets.library import screen

screen.draw()
