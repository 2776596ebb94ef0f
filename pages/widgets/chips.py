"""Small words with a tone (good, warn, bad, live), as HTML. Texts are escaped here."""

from __future__ import annotations

from collections.abc import Iterable

from pages.widgets import safe


def one(text: object, tone: str = "") -> str:
    """A chip."""
    return f'<span class="chip {tone}">{safe.html(text)}</span>'


def row(chips: Iterable[tuple[str, str]]) -> str:
    """Chips side by side, from (text, tone) pairs."""
    return "".join(one(text, tone) for text, tone in chips)
