"""Regular expressions from the text files in `data/`: a line "[name]" opens a pattern, each line below it
holds alternatives, usually of one language; lines that begin with "#" are comments."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_DATA = Path(__file__).parent / "data"


@cache
def load_alternatives(file: str) -> dict[str, str]:
    """Each pattern of `data/<file>.txt` as one alternation. Raises FileNotFoundError when there is no such
    file."""
    found: dict[str, list[str]] = {}
    for line in (_DATA / f"{file}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("[") and line.endswith("]"):
            lines = found.setdefault(line[1:-1], [])
        elif line and not line.startswith("#"):
            lines.append(line)
    return {name: "|".join(lines) for name, lines in found.items()}


def compile_words(alternatives: str) -> re.Pattern[str]:
    """The alternatives as whole words, in any case."""
    return re.compile(rf"\b(?:{alternatives})\b", re.IGNORECASE)
