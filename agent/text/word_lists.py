"""Word lists and patterns of the text files in `data/`: words between blanks, or an entry a line below
`[section]`; "#" for comments."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

_DATA = Path(__file__).parent / "data"


@cache
def load_words(name: str) -> frozenset[str]:
    """The words of `data/<name>.txt`. Raises FileNotFoundError when there is no such list."""
    return frozenset(word for line in read_rows(name) for word in line.split())


def read_rows(name: str) -> list[str]:
    """The lines of `data/<name>.txt` without comments and empty lines."""
    lines = (_DATA / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def read_lists(name: str) -> dict[str, tuple[str, ...]]:
    """The entries of `data/<name>.txt` by section, in their order."""
    return read_sections(_DATA / f"{name}.txt")


@cache
def read_sections(file: Path) -> dict[str, tuple[str, ...]]:
    """The lines of a text file below each "[section]", in their order, without comments and empty lines."""
    sections: dict[str, list[str]] = {}
    for line in map(str.strip, file.read_text(encoding="utf-8").splitlines()):
        if header := re.fullmatch(r"\[([\w ]+)\]", line):
            entries = sections.setdefault(header[1], [])
        elif line and not line.startswith("#"):
            entries.append(line)
    return {section: tuple(entries) for section, entries in sections.items()}


def compile_any(entries: Iterable[str]) -> re.Pattern[str]:
    """A pattern that finds any of the entries (regular expressions), in either case."""
    return re.compile("|".join(entries), re.IGNORECASE)


def compile_names(entries: Iterable[str]) -> re.Pattern[str]:
    """A pattern that finds an entry as a whole part of class names and ids ("nav" in "site-nav")."""
    return compile_any([rf"(?:^|[\s_-])(?:{'|'.join(entries)})(?:$|[\s_-])"])


STOPWORDS = load_words("stopwords")
"""Function words of several languages, in the form `tokens.fold` gives."""
COMMON_WORDS = load_words("common_words")
"""Content words so common in English that a match of one of them says little."""
