"""Word lists and patterns for pages, kept as text files in `data/`: one entry a line below `[section]`, "#"
begins a comment line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

_DATA = Path(__file__).with_name("data")
_SECTION = re.compile(r"\[(\w+)\]")


@lru_cache
def read_lists(name: str) -> dict[str, tuple[str, ...]]:
    """The entries of `data/<name>.txt` by section, in their order."""
    sections: dict[str, list[str]] = {}
    for line in (_DATA / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        if header := _SECTION.fullmatch(line.strip()):
            entries = sections.setdefault(header[1], [])
        elif line.strip() and not line.startswith("#"):
            entries.append(line.strip())
    return {section: tuple(entries) for section, entries in sections.items()}


def compile_any(entries: Iterable[str]) -> re.Pattern[str]:
    """A pattern that finds any of the entries (regular expressions), in either case."""
    return re.compile("|".join(entries), re.IGNORECASE)


def compile_names(entries: Iterable[str]) -> re.Pattern[str]:
    """A pattern that finds an entry as a whole part of class names and ids ("nav" in "site-nav")."""
    return re.compile(rf"(?:^|[\s_-])(?:{'|'.join(entries)})(?:$|[\s_-])", re.IGNORECASE)
