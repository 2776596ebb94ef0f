"""Word lists and patterns, read from the text files in `data/`: words between blanks, lines that begin with
"#" are comments."""

from __future__ import annotations

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


def read_patterns(name: str) -> dict[str, str]:
    """The regular expressions of `data/<name>.txt` by name: lines "name: alternatives", joined for each
    name."""
    patterns: dict[str, str] = {}
    for row in read_rows(name):
        key, _, alternatives = row.partition(": ")
        patterns[key] = f"{patterns[key]}|{alternatives}" if key in patterns else alternatives
    return patterns


STOPWORDS = load_words("stopwords")
"""Function words of several languages, in the form `tokens.fold` gives."""
COMMON_WORDS = load_words("common_words")
"""Content words so common in English that a match of one of them says little."""
