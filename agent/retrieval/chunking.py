"""A page's text as passages: windows of whole lines or sentences under one heading, and table rows with their
header row.

Offsets are the page's own, so a quote found in a passage is found in the page. Knows nothing of questions.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from agent.text.sentences import find_sentence_spans
from agent.types import Page, Passage, Table

PASSAGE_CHARS = 900
"""Characters a passage may have before it is closed at the end of a sentence."""
PASSAGE_ROWS = 8
"""Table rows in one passage."""
_FIGURE = re.compile(r"\s*[-−±+<>≤≥~≈$€£]?\s?(?!(?:19|20)\d\d\b)\d")
"""A cell that begins with a figure, other than a year."""
MAX_TEXT_CHARS = 400_000
"""Characters of a page that are looked at, unless more are asked for."""


def split_passages(page: Page, page_id: str, *, longest: int = MAX_TEXT_CHARS) -> list[Passage]:
    """All passages of a page in the order of its text; `id` is unique within the page and carries
    `page_id`."""
    text = page.text[:longest]
    found: list[tuple[int, int, str, bool]] = []
    at = 0
    for table in sorted(page.tables, key=lambda table: table.start):
        if at <= table.start < table.end <= len(text):
            found += _split_prose(page, text, at, table.start)
            found += _split_rows(page, text, table)
            at = table.end
    found += _split_prose(page, text, at, len(text))
    return [
        Passage(
            id=f"{page_id}:{n}",
            page_id=page_id,
            url=page.final_url or page.url,
            title=page.title,
            heading=heading,
            text=text[start:end],
            start=start,
            end=end,
            rows=rows,
        )
        for n, (start, end, heading, rows) in enumerate(found)
    ]


def _split_prose(page: Page, text: str, start: int, end: int) -> list[tuple[int, int, str, bool]]:
    """Windows of the prose between two offsets; a heading always opens a new one."""
    if end <= start:
        return []
    starts = [heading.start for heading in page.headings]
    windows: list[tuple[int, int, str, bool]] = []
    open_at, last, under = -1, -1, -1
    for left, right in find_sentence_spans(text[start:end]):
        left, right = left + start, right + start
        section = bisect_right(starts, left)
        if open_at >= 0 and (section != under or right - open_at > PASSAGE_CHARS):
            windows.append((open_at, last, _heading_path(page, under), False))
            open_at = -1
        open_at = left if open_at < 0 else open_at
        last, under = right, section
    if open_at >= 0:
        windows.append((open_at, last, _heading_path(page, under), False))
    return windows


def _heading_path(page: Page, section: int) -> str:
    """The path of headings over a section, outermost first, the page's own title left out."""
    path: list[str] = []
    level = 99
    for heading in reversed(page.headings[max(0, section - 60) : section]):
        if heading.level < level:
            level = heading.level
            if heading.text and heading.text != page.title:
                path.insert(0, heading.text)
    return " › ".join(path)


def _is_headerless(rows: list[list[str]]) -> bool:
    """Two columns, and a figure in the first row's second: that row names no columns, but says something
    ("Weight", "310 g")."""
    return bool(rows) and len(rows[0]) == 2 and bool(_FIGURE.match(rows[0][1]))


def _split_rows(page: Page, text: str, table: Table) -> list[tuple[int, int, str, bool]]:
    """A table's lines by `ROWS`; the heading of each is the table's header row (its first), or where it has
    none what stands above it."""
    lines: list[tuple[int, int]] = []
    at = table.start
    for line in text[table.start : table.end].split("\n"):
        if line.strip():
            lines.append((at, at + len(line)))
        at += len(line) + 1
    if not lines:
        return []
    if not table.headed or _is_headerless(table.rows):
        header = _heading_path(page, bisect_right([heading.start for heading in page.headings], table.start))
    else:
        header = " | ".join(table.rows[0]) if table.rows else text[lines[0][0] : lines[0][1]]
    groups = [lines[i : i + PASSAGE_ROWS] for i in range(0, len(lines), PASSAGE_ROWS)]
    return [(group[0][0], group[-1][1], header, True) for group in groups]
