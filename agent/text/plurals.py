"""Numbers of things in sentences, the same on every surface."""

from __future__ import annotations


def format_count(n: float, noun: str, plural: str = "") -> str:
    """ "1 page", "3 pages", "1,204 facts"; `plural` where it is not the noun with an s."""
    return f"{n:,.0f} {noun if n == 1 else plural or noun + 's'}"


def format_percent(share: float) -> str:
    """A share as people read it: 0.766 is "77 %"."""
    return f"{share * 100:.0f} %"
