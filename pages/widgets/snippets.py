"""A passage that was found, as HTML: the part of it that says most about what was looked for, its words marked. Pure."""

from __future__ import annotations

import re

from agent.text.words import content_stems, stem, tokens
from pages.widgets import safe

SHOWN = 340
"""Characters of a passage that are shown."""
_BROKEN_LINE = re.compile(r"(?<=[^\s.:;!?|])[ \t]*\n[ \t]*(?=[^\W\d_A-Z])")
"""The end of a line in the middle of a sentence, as PDFs have it: small letters follow."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
Spot = tuple[int, int, str]
"""A word that was looked for: where it starts and ends, and its stem."""


def spots(text: str, query: str) -> list[Spot]:
    """Where the words of the query stand in the text, whatever their endings; in scripts without blanks, their pairs of characters."""
    wanted = set(content_stems(query))
    found: list[Spot] = []
    for word in _WORD.finditer(text):
        parts = tokens(word.group())
        stems = [part for part in map(stem, parts) if part in wanted]
        if not stems:
            continue
        if len(parts) == 1 or word.group().isascii():
            found.append((word.start(), word.end(), stems[0]))
        else:
            found += _pairs(word.group(), word.start(), wanted)
    return _joined(found)


def snippet(text: str, query: str, *, rows: bool = False) -> str:
    """The telling part of a passage as HTML, every word of the query in it marked. `rows`: its lines are the rows of a table."""
    text = text.rstrip() if rows else _BROKEN_LINE.sub(" ", text.rstrip())
    found = spots(text, query)
    start, end = window(text, found)
    parts, at = [], start
    for a, b, _ in found:
        if a < start or b > end:
            continue
        parts += [_flat(text[at:a]), f"<mark>{_flat(text[a:b])}</mark>"]
        at = b
    before, after = "… " if start else "", " …" if end < len(text) else ""
    return before + "".join(parts) + _flat(text[at:end]) + after


def window(text: str, found: list[Spot]) -> tuple[int, int]:
    """The stretch of at most `SHOWN` characters, from blank to blank, that holds the most different words; the first of equals."""
    if len(text) <= SHOWN:
        return 0, len(text)
    best, most = 0, -1
    for first, _, _ in found or [(0, 0, "")]:
        start = max(0, first - SHOWN // 6)
        different = len({name for a, b, name in found if start <= a and b <= start + SHOWN})
        if different > most:
            best, most = start, different
    start = min(best, len(text) - SHOWN)
    start = text.find(" ", max(0, start - 1), start + 40) + 1 if start else 0
    end = text.rfind(" ", start, start + SHOWN) if start + SHOWN < len(text) else len(text)
    return start, end if end > start + SHOWN // 2 else min(len(text), start + SHOWN)


def _pairs(word: str, offset: int, wanted: set[str]) -> list[Spot]:
    found: list[Spot] = []
    for i in range(len(word) - 1):
        pair = "".join(tokens(word[i : i + 2]))
        if pair in wanted:
            found.append((offset + i, offset + i + 2, pair))
    return found


def _joined(found: list[Spot]) -> list[Spot]:
    """Spots that touch or overlap become one."""
    joined: list[Spot] = []
    for a, b, name in found:
        if joined and a < joined[-1][1]:
            joined[-1] = (joined[-1][0], b, joined[-1][2])
        else:
            joined.append((a, b, name))
    return joined


def _flat(text: str) -> str:
    """Escaped, on one line: lines are parted by a dot."""
    return safe.html(re.sub(r"\s*\n\s*", " · ", text)) if text.strip() else " " * bool(text)
