"""Numbers of things in sentences, and words of others in them, the same on every surface."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise


def format_count(n: float, noun: str, plural: str = "") -> str:
    """ "1 page", "3 pages", "1,204 facts"; `plural` where it is not the noun with an s."""
    return f"{n:,.0f} {noun if n == 1 else plural or noun + 's'}"


def clip(text: str) -> str:
    """The beginning of a text that a sentence names: it may be long, and anybody's."""
    return text[:120]


def list_first(items: Iterable[str], separator: str = ", ") -> str:
    """The first three, and how many more there are: "a, b", "a, b, c and 2 more"."""
    *shown, left = *(listed := list(items))[:3], len(listed) - 3
    return f"{separator.join(shown)}{f' and {left} more' if left > 0 else ''}"


def format_percent(share: float) -> str:
    """A share as people read it: 0.766 is "77 %"."""
    return f"{share * 100:.0f} %"


def format_changes(share: float, changes: Sequence[float]) -> list[str]:
    """The changes that led to `share`, in the order they happened, as differences of the percentages that
    `format_percent` shows: 0.614 to 0.616 is "+1 point", for 61 % became 62 %."""
    levels = [round(share - sum(changes[n:]), 4) for n in range(len(changes) + 1)]
    shown = [round(level * 100) for level in levels]
    return [
        f"{'+' if after > before else '-'}{format_count(abs(after - before), 'point')}"
        if after != before
        else "under 1 point"
        for before, after in pairwise(shown)
    ]
