"""A passage that was found, as HTML: the part that says most about the query, its words marked. Pure."""

from __future__ import annotations

import re

from agent.text.tokens import content_stems, stem, tokenize
from pages.widgets.shell import escape

MAX_CHARS = 340
"""Characters of a passage that are shown."""
_BROKEN_LINE = re.compile(r"(?<=[^\s.:;!?|])[ \t]*\n[ \t]*(?=[^\W\d_A-Z])")
"""The end of a line in the middle of a sentence, as PDFs have it: small letters follow."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
Match = tuple[int, int, str]
"""A word that was looked for: where it starts and ends, and its stem."""


def find_matches(text: str, query: str) -> list[Match]:
    """Where the words of the query stand in the text, whatever their endings; in scripts without blanks,
    their pairs of characters, of which overlapping ones become one."""
    wanted, found = set(content_stems(query)), list[Match]()
    for word in _WORD.finditer(text):
        parts, at = tokenize(word.group()), word.start()
        if len(parts) == 1 or word.group().isascii():
            found += [(at, word.end(), one) for one in map(stem, parts) if one in wanted][:1]
            continue
        for n in range(len(word.group()) - 1):
            pair = "".join(tokenize(word.group()[n : n + 2]))
            if pair in wanted and found and at + n < found[-1][1]:
                found[-1] = (found[-1][0], at + n + 2, found[-1][2])
            elif pair in wanted:
                found.append((at + n, at + n + 2, pair))
    return found


def render_snippet(text: str, query: str, *, rows: bool = False) -> str:
    """The telling part of a passage as HTML, the query's words marked. `rows`: lines are a table's rows."""
    text = text.rstrip() if rows else _BROKEN_LINE.sub(" ", text.rstrip())
    found = find_matches(text, query)
    start, end = choose_window(text, found)
    parts, at = [], start
    for a, b, _ in found:
        if a < start or b > end:
            continue
        parts += [_escape_on_one_line(text[at:a]), f"<mark>{_escape_on_one_line(text[a:b])}</mark>"]
        at = b
    before, after = "… " if start else "", " …" if end < len(text) else ""
    return before + "".join(parts) + _escape_on_one_line(text[at:end]) + after


def choose_window(text: str, found: list[Match]) -> tuple[int, int]:
    """The first stretch of at most MAX_CHARS characters, cut at blanks, with the most different words."""
    if len(text) <= MAX_CHARS:
        return 0, len(text)
    best, most = 0, -1
    for first, _, _ in found or [(0, 0, "")]:
        start = max(0, first - MAX_CHARS // 6)
        different = len({name for a, b, name in found if start <= a and b <= start + MAX_CHARS})
        if different > most:
            best, most = start, different
    start = min(best, len(text) - MAX_CHARS)
    start = text.find(" ", max(0, start - 1), start + 40) + 1 if start else 0
    end = text.rfind(" ", start, start + MAX_CHARS) if start + MAX_CHARS < len(text) else len(text)
    return start, end if end > start + MAX_CHARS // 2 else min(len(text), start + MAX_CHARS)


def _escape_on_one_line(text: str) -> str:
    """Escaped, on one line: lines are parted by a dot."""
    return escape.html(re.sub(r"\s*\n\s*", " · ", text)) if text.strip() else " " * bool(text)
