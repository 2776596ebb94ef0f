"""Small words with a tone (good, warn, bad, live), as HTML. Texts are escaped here."""

from __future__ import annotations

from collections.abc import Iterable

from pages.widgets.shell import escape


def render(text: object, tone: str = "") -> str:
    """A chip."""
    return f'<span class="chip {tone}">{escape.html(text)}</span>'


def render_row(chips: Iterable[tuple[str, str]]) -> str:
    """Chips side by side, from (text, tone) pairs."""
    return "".join(render(text, tone) for text, tone in chips)
