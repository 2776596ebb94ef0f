"""Regular expressions from the text files in `data/`: a line "[name]" opens a pattern, each line below it
holds alternatives, usually of one language; lines that begin with "#" are comments."""

from __future__ import annotations

import re
from pathlib import Path

from agent.text.word_lists import read_sections

_DATA = Path(__file__).parent / "data"


def load_alternatives(file: str) -> dict[str, str]:
    """Each pattern of `data/<file>.txt` as one alternation. Raises FileNotFoundError."""
    return {name: "|".join(lines) for name, lines in read_sections(_DATA / f"{file}.txt").items()}


def compile_words(alternatives: str) -> re.Pattern[str]:
    """The alternatives as whole words, in any case."""
    return re.compile(rf"\b(?:{alternatives})\b", re.IGNORECASE)
