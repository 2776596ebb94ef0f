"""Word lists and patterns for pages, in `data/`: one entry a line below `[section]`, "#" for comments."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from agent.text.word_lists import read_sections

_DATA = Path(__file__).with_name("data")


def read_lists(name: str) -> dict[str, tuple[str, ...]]:
    """The entries of `data/<name>.txt` by section, in their order."""
    return read_sections(_DATA / f"{name}.txt")


def compile_any(entries: Iterable[str]) -> re.Pattern[str]:
    """A pattern that finds any of the entries (regular expressions), in either case."""
    return re.compile("|".join(entries), re.IGNORECASE)


def compile_names(entries: Iterable[str]) -> re.Pattern[str]:
    """A pattern that finds an entry as a whole part of class names and ids ("nav" in "site-nav")."""
    return re.compile(rf"(?:^|[\s_-])(?:{'|'.join(entries)})(?:$|[\s_-])", re.IGNORECASE)
