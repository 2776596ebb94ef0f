"""Word lists and patterns of the text files in `data/`: words between blanks, "#" for comments."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_DATA = Path(__file__).parent / "data"
_SECTION = re.compile(r"\[([\w ]+)\]")


@cache
def load_words(name: str) -> frozenset[str]:
    """The words of `data/<name>.txt`. Raises FileNotFoundError when there is no such list."""
    return frozenset(word for line in read_rows(name) for word in line.split())


def read_rows(name: str) -> list[str]:
    """The lines of `data/<name>.txt` without comments and empty lines."""
    lines = (_DATA / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def read_patterns(name: str) -> dict[str, str]:
    """The regular expressions of `data/<name>.txt` by name: lines "name: alternatives", joined."""
    patterns: dict[str, str] = {}
    for row in read_rows(name):
        key, _, alternatives = row.partition(": ")
        patterns[key] = f"{patterns[key]}|{alternatives}" if key in patterns else alternatives
    return patterns


@cache
def read_sections(file: Path) -> dict[str, tuple[str, ...]]:
    """The lines of a text file below each "[section]", in their order, without comments and empty lines."""
    sections: dict[str, list[str]] = {}
    for line in map(str.strip, file.read_text(encoding="utf-8").splitlines()):
        if header := _SECTION.fullmatch(line):
            entries = sections.setdefault(header[1], [])
        elif line and not line.startswith("#"):
            entries.append(line)
    return {section: tuple(entries) for section, entries in sections.items()}


STOPWORDS = load_words("stopwords")
"""Function words of several languages, in the form `tokens.fold` gives."""
COMMON_WORDS = load_words("common_words")
"""Content words so common in English that a match of one of them says little."""
