"""Which lines of a text read on in the next one: text that was wrapped at a width, by an editor, a mailer or
a typesetter."""

from __future__ import annotations

import re
from itertools import pairwise

MIN_WIDTH, MAX_WIDTH = 40, 130
"""The widths at which texts are wrapped: RFC 5322 recommends 78 characters, newspapers set about 40."""
MIN_FULL_SHARE = 0.7
"""The share of lines with another below them that are full in a text that was wrapped; the last line of a
paragraph may be shorter."""
MIN_LINE_WORDS = 4
"""Words of a line of prose; a line of code may have fewer."""
CODE_INDENT = 4
"""Columns from which lines are indented on purpose (Markdown's measure for code)."""
LIST_MARK = re.compile(r"[ \t]*(?:[-*+•‣▪◦–]|\(?(?:\d{1,3}|[a-zA-Z])[.)])[ \t]+(?=\S)")
"""What a list item begins with."""
_LINE = re.compile(r"[^\n]*\S[^\n]*")
_CLOSED = re.compile(r"(?:[.!?…:;。！？।۔؟|][\"'”’»)\]]*(?:\[\d+\])*|[=\-_*~]{3,})\s*$")
"""A line that ends with a terminal mark, or consists of a rule."""
_ASSIGNMENT = re.compile(r"\s*[\w.-]+\s?[:=]")
Span = tuple[int, int]


def find_stretches(text: str) -> list[Span]:
    """The spans of the stretches of a text, in order: each line that is not blank, together with those in
    which it reads on. A blank line, a list mark, or a terminal mark at a line's end closes a stretch."""
    lines = [(m.start(), m.end()) for m in _LINE.finditer(text)]
    if not lines:
        return []
    width = _wrap_width(text, lines)
    stretches = [lines[0]]
    for line, following in pairwise(lines):
        if _reads_on(text, line, following, width):
            stretches[-1] = (stretches[-1][0], following[1])
        else:
            stretches.append(following)
    return stretches


def join_wrapped_lines(text: str) -> str:
    """The text with each stretch on one line; a word that was divided at a line's end is whole again. Blank
    lines stay, as one."""
    parts: list[str] = []
    end = 0
    for start, stop in find_stretches(text):
        parts.append("\n\n" if text.count("\n", end, start) > 1 else "\n")
        first, *rest = text[start:stop].split("\n")
        line = first.rstrip()
        for more in rest:
            line = _join(line, more.strip())
        parts.append(line)
        end = stop
    return "".join(parts[1:])


def _join(line: str, more: str) -> str:
    """Two lines as one. A hyphen between lower-case letters divided a word, or belongs to it ("well-known"):
    the quote check reads both alike."""
    if line.endswith("\u00ad"):
        return line[:-1] + more
    if line.endswith("-") and line[-2:-1].islower() and more[:1].islower():
        return line[:-1] + more
    return line + more if line.endswith("-") and line[-2:-1].isalnum() else f"{line} {more}"


def _wrap_width(text: str, lines: list[Span]) -> int:
    """The width at which a text was wrapped; 0 where it was not."""
    pairs = [
        (end - start, _first_word_length(text, after))
        for (start, end), after in pairwise(lines)
        if text.count("\n", end, after[0]) == 1
    ]
    width = max((length for length, _ in pairs), default=0)
    full = sum(length + 1 + word > width for length, word in pairs)
    is_wrapped = len(pairs) > 1 and MIN_WIDTH <= width <= MAX_WIDTH and full >= MIN_FULL_SHARE * len(pairs)
    return width if is_wrapped else 0


def _first_word_length(text: str, line: Span) -> int:
    return len(text[line[0] : line[1]].split(None, 1)[0])


def _reads_on(text: str, line: Span, following: Span, width: int) -> bool:
    above, below = text[line[0] : line[1]], text[following[0] : following[1]]
    if (
        text.count("\n", line[1], following[0]) != 1
        or _CLOSED.search(above)
        or _CLOSED.fullmatch(below)
        or LIST_MARK.match(below)
        or " | " in above
        or " | " in below
    ):
        return False
    if len(above.split()) < MIN_LINE_WORDS:
        return False
    if len(above) + 1 + _first_word_length(text, following) > width > 0:
        return True
    indent = len(below) - len(below.lstrip())
    is_code = below[0] == "\t" or (indent >= CODE_INDENT and not LIST_MARK.match(above))
    is_long = len(above) >= MIN_WIDTH and not _ASSIGNMENT.match(below)
    return is_long and not is_code and (below.lstrip()[0].islower() or above.endswith((",", "-")))
