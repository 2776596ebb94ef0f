"""Splits a page's text into passages (whole sentences or lines under one heading, table rows with their
header row) and groups passages into sections.

Offsets are the page's own, so a quote found in a passage is found in the page. Knows nothing of questions."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from agent.text.sentences import find_sentence_spans
from agent.types import Heading, Page, Passage, Table

PASSAGES_VERSION = 2
"""Raised when pages are split in another way: the library then splits its pages again."""
PASSAGE_CHARS = 900
"""Characters a passage may have before it is closed at the end of a sentence."""
PASSAGE_ROWS = 8
"""Table rows in one passage."""
MAX_TEXT_CHARS = 400_000
"""Characters of a page that are split, unless more are asked for."""
MIN_SENTENCE_CHARS = 12
"""A shorter line is not a sentence."""
MAX_HEADING_WORDS, MAX_HEADING_CHARS = 9, 90
"""The most a line may have to be taken for a heading."""
MIN_LIST_LINES = 2
"""A line after this many short lines is an item of a list, not a heading."""
MIN_BODY_WORDS = 8
"""Words the line below a heading must have."""
_FIGURE = re.compile(r"\s*[-−±+<>≤≥~≈$€£]?\s?(?!(?:19|20)\d\d\b)\d")
"""A cell that begins with a figure, other than a year."""


@dataclass(frozen=True)
class Section:
    """Neighbouring passages of one page under one heading ("" before the first)."""

    heading: str
    passages: tuple[Passage, ...]


def split_passages(page: Page, page_id: str, *, longest: int = MAX_TEXT_CHARS) -> list[Passage]:
    """All passages of a page in the order of its text; `id` is unique within the page and carries
    `page_id`."""
    text = page.text[:longest]
    found: list[tuple[int, int, str, str | None]] = []
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
            kind="prose" if label is None else "rows",
            label=label or "",
            text=text[start:end],
            start=start,
            end=end,
            published_at=page.published_at,
        )
        for n, (start, end, heading, label) in enumerate(found)
    ]


def split_sentences(passage: Passage) -> list[str]:
    """The sentences of a passage without its title and heading, or its table rows."""
    if passage.rows:
        return [line.strip() for line in passage.text.split("\n") if line.strip()]
    above = {passage.title, last_heading(passage)}
    found = [passage.text[start:end] for start, end in find_sentence_spans(passage.text)]
    return [sentence for sentence in found if len(sentence) >= MIN_SENTENCE_CHARS and sentence not in above]


def last_heading(passage: Passage) -> str:
    """The innermost heading over a passage."""
    return passage.heading.split(" › ")[-1]


def group_sections(passages: Sequence[Passage]) -> list[Section]:
    """The passages (in the order of their page) grouped by heading; one that opens with its heading's line
    opens a section."""
    opened = 0
    keys: list[tuple[str, str, int]] = []
    for passage in passages:
        heading = last_heading(passage)
        opened += bool(heading) and passage.text.startswith(heading)
        keys.append((passage.page_id, passage.heading, opened))
    groups = groupby(zip(keys, passages, strict=True), key=lambda pair: pair[0])
    return [Section(key[1], tuple(passage for _, passage in group)) for key, group in groups]


def infer_headings(page: Page) -> Page:
    """The page with added headings where it marks fewer than two: a short line without a full stop above a
    longer one. The text stays as it is."""
    marked = [heading for heading in page.headings if heading.text and heading.text != page.title]
    if len(marked) > 1:
        return page
    found = {heading.start: heading for heading in [*_heading_lines(page), *page.headings]}
    return page.replace(headings=[found[start] for start in sorted(found)])


def _heading_lines(page: Page) -> Iterable[Heading]:
    lines = _lines(page.text, 0, len(page.text))
    for n, ((start, end), (next_start, next_end)) in enumerate(pairwise(lines)):
        line = page.text[start:end].strip()
        before = [page.text[a:b].strip() for a, b in lines[max(0, n - MIN_LIST_LINES) : n]]
        in_list = len(before) == MIN_LIST_LINES and all(
            len(other.split()) <= MAX_HEADING_WORDS and other != page.title for other in before
        )
        plain = line[-1] not in ".!?;:,|" and "|" not in line and line[0].isalnum() and line != page.title
        short = len(line.split()) <= MAX_HEADING_WORDS and len(line) < MAX_HEADING_CHARS
        if plain and short and not in_list and len(page.text[next_start:next_end].split()) >= MIN_BODY_WORDS:
            yield Heading(start=start, level=2, text=line)


def _lines(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The spans of the lines of `text[start:end]` that are not empty."""
    return [(start + m.start(), start + m.end()) for m in re.finditer(r"[^\n]*\S[^\n]*", text[start:end])]


def _split_prose(page: Page, text: str, start: int, end: int) -> list[tuple[int, int, str, str | None]]:
    """Passages of the prose between two offsets; a heading always opens a new one."""
    starts = [heading.start for heading in page.headings]
    windows: list[tuple[int, int, str, str | None]] = []
    opened_at, last, section = -1, -1, -1
    for left, right in find_sentence_spans(text[start:end]):
        left, right = left + start, right + start
        here = bisect_right(starts, left)
        if opened_at >= 0 and (here != section or right - opened_at > PASSAGE_CHARS):
            windows.append((opened_at, last, _heading_path(page, section), None))
            opened_at = -1
        opened_at = left if opened_at < 0 else opened_at
        last, section = right, here
    if opened_at >= 0:
        windows.append((opened_at, last, _heading_path(page, section), None))
    return windows


def _heading_path(page: Page, section: int) -> str:
    """The path of headings over a section, outermost first, without the page's own title."""
    path: list[str] = []
    level = 99
    for heading in reversed(page.headings[max(0, section - 60) : section]):
        if heading.level < level:
            level = heading.level
            if heading.text and heading.text != page.title:
                path.insert(0, heading.text)
    return " › ".join(path)


def _split_rows(page: Page, text: str, table: Table) -> list[tuple[int, int, str, str | None]]:
    """Passages of `PASSAGE_ROWS` rows; the label of each is the table's header row."""
    lines = _lines(text, table.start, table.end)
    if not lines:
        return []
    header = ""
    if table.headed and not _is_headerless(table.rows):
        header = " | ".join(table.rows[0]) if table.rows else text[lines[0][0] : lines[0][1]]
    above = _heading_path(page, bisect_right([heading.start for heading in page.headings], table.start))
    groups = [lines[i : i + PASSAGE_ROWS] for i in range(0, len(lines), PASSAGE_ROWS)]
    return [(group[0][0], group[-1][1], above, header) for group in groups]


def _is_headerless(rows: list[list[str]]) -> bool:
    """Is the first of two columns' rows a statement ("Weight", "310 g") rather than column names?"""
    return bool(rows) and len(rows[0]) == 2 and bool(_FIGURE.match(rows[0][1]))
