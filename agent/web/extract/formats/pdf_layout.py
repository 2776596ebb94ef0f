"""What the lines of a PDF are to a reader: paragraphs, list items, terms, code and headings.

Judged by geometry (gaps, indents, the right edge) and type, never by words, so that it holds for every
language."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from statistics import median
from typing import Literal

from agent.web.extract.formats.pdf_lines import LINE_END_HYPHEN, Line
from agent.web.extract.formats.pdf_words import join_lines, mend_words

ParagraphKind = Literal["paragraph", "heading", "term", "definition", "item", "code", "note", "table"]

_MARKER = re.compile(r"(?:[•◦▪▫‣⁃●○■□➢➤✓*·–—-]|\uf0b7|\(?[0-9]{1,3}[.)]|\(?[a-zA-Z][.)])\s+(?=\S)")
"""The sign or number that opens a list item."""
_NUMBER_MARKER = re.compile(r"\(?[0-9a-zA-Z]{1,3}[.)]\s")
_SENTENCE_END = re.compile(r"[.!?:;。！？][\"'”’»)\]]*$")
WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_GAP = 1.35
"""Baselines further apart than this many usual distances separate paragraphs (typesetters add half a line;
a superscript moves a line by a tenth)."""
_INDENT = 5.0
"""Points by which a line must be indented to begin a paragraph: half the smallest indent in use (1 em)."""
_EDGE_WINDOW = 60.0
"""Lines that begin within so many points of each other belong to one column."""
LARGER = 1.1
"""A heading's size over that of the body: the smallest step of the usual scales is 1.2."""
_MAX_HEADING_CHARACTERS = 200
_MAX_BOLD_HEADING_CHARACTERS = 100
_MIN_BLOCK_LINES = 5
"""Lines of the same indent from which on their own right end counts: a box in a column is narrower."""
_JUSTIFIED = 0.3
"""The share of a column's lines that end at the same point when it is justified, at least."""
_WIDE = 1.15
"""How much wider than the line's average a word may be (capitals)."""


@dataclass
class Paragraph:
    """Lines that belong together; `text` once they are joined."""

    lines: list[Line]
    kind: ParagraphKind = "paragraph"
    text: str = ""
    is_larger: bool = False
    """Whether its type is larger than that of the text."""
    rest_x0: float | None = None
    """Where its lines after the first begin."""

    @property
    def page(self) -> int:
        """The page it begins on."""
        return self.lines[0].page


@dataclass
class Layout:
    """What is usual in a document."""

    lines: Sequence[Line]
    size: float = 0.0
    """The size of most of its type."""
    leading: float = 0.0
    """The distance of baselines within paragraphs of that size."""
    is_mono: bool = False
    """Whether all of it is set in type of fixed pitch: then that is no sign of code."""
    vocabulary: Counter[str] = field(default_factory=Counter)
    _starts: dict[int, list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))
    _edges: dict[tuple[int, int], float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.lines = [line for line in self.lines if not line.rows]
        sizes: Counter[float] = Counter()
        mono = 0
        for line in self.lines:
            sizes[line.size] += len(line.text)
            mono += len(line.text) if line.is_mono else 0
        self.vocabulary.update(word.lower() for text in self._whole_words() for word in WORD.findall(text))
        self.size = sizes.most_common(1)[0][0] if sizes else 0.0
        self.is_mono = mono > 0.6 * sizes.total()
        steps = [
            round(above.bottom - below.y, 1)
            for above, below in pairwise(self.lines)
            if above.page == below.page
            and above.size == below.size == self.size
            and 0 < above.bottom - below.y < 2 * self.size
        ]
        self.leading = Counter(steps).most_common(1)[0][0] if steps else 1.2 * self.size

    def _whole_words(self) -> Iterator[str]:
        """The lines without the words that a line's end breaks."""
        is_broken = False
        for line in self.lines:
            text = line.text.partition(" ")[2] if is_broken else line.text
            is_broken = text.endswith("-")
            text = text.rpartition(" ")[0] if is_broken else text
            yield " ".join(word for word in text.split() if LINE_END_HYPHEN not in word)

    def right_edge(self, line: Line) -> float:
        """Where the lines of this line's column end, on its page or on all pages of that side of a
        sheet, whose margins may be mirrored."""
        return max(self._edge(line, line.page), self._edge(line, -1 - line.page % 2))

    def _edge(self, line: Line, page: int) -> float:
        """The usual right end of the column's long lines."""
        if not self._starts:
            for other in self.lines:
                if len(other.text) > 30 and (not other.is_mono or self.is_mono):
                    self._starts[other.page].append((other.x0, other.x1))
                    self._starts[-1 - other.page % 2].append((other.x0, other.x1))
            for found in self._starts.values():
                found.sort()
        key = page, round(line.x0 / _INDENT)
        if key not in self._edges:
            close = self._find_ends(key, _INDENT)
            end = _find_justified_end(close) if len(close) >= _MIN_BLOCK_LINES else 0.0
            self._edges[key] = end or _find_usual_end(self._find_ends(key, _EDGE_WINDOW))
        return self._edges[key] or line.x1

    def _find_ends(self, key: tuple[int, int], window: float) -> list[float]:
        """Where lines end that begin within so many points of a place on a page."""
        page, x0 = key[0], key[1] * _INDENT
        starts = self._starts.get(page, [])
        first, last = bisect_left(starts, (x0 - window, 0.0)), bisect_left(starts, (x0 + window, 0.0))
        return sorted(x1 for _, x1 in starts[first:last])


def _find_justified_end(ends: Sequence[float]) -> float:
    """Where the lines end when many end at the same point; 0 when they don't."""
    usual, count = Counter(round(end / 2) * 2 for end in ends).most_common(1)[0]
    return float(usual) if count >= _JUSTIFIED * len(ends) else 0.0


def _find_usual_end(ends: Sequence[float]) -> float:
    """Where most lines end when they are justified, else what nine in ten stay within; 0 for no lines."""
    if not ends:
        return 0.0
    return _find_justified_end(ends) or ends[round(0.9 * (len(ends) - 1))]


# --- paragraphs ---


def build_paragraphs(pages: Iterable[Sequence[Line]], layout: Layout) -> list[Paragraph]:
    """The lines as paragraphs in the order of the file; one that a page break divides is whole again."""
    paragraphs: list[Paragraph] = []
    for lines in pages:
        start = len(paragraphs)
        for line in lines:
            current = paragraphs[-1] if len(paragraphs) > start else None
            if current is not None and _belongs_to(line, current, layout):
                current.lines.append(line)
                current.rest_x0 = line.x0 if current.rest_x0 is None else current.rest_x0
            else:
                paragraphs.append(_open_paragraph(line, layout))
        for n in reversed(range(start, len(paragraphs))):
            if n == start or _is_column_break(paragraphs[n - 1], paragraphs[n]):
                _join_over_break(paragraphs, n, layout)
    for paragraph in paragraphs:
        paragraph.text = _join_lines(paragraph, layout)
    return _join_code([paragraph for paragraph in paragraphs if paragraph.text])


def _open_paragraph(line: Line, layout: Layout) -> Paragraph:
    if line.rows:
        return Paragraph([line], "table")
    if line.is_mono and not layout.is_mono:
        return Paragraph([line], "code")
    if line.size < 0.9 * layout.size:
        return Paragraph([line], "note")
    return Paragraph([line], "item" if _MARKER.match(line.text) else "paragraph")


def _belongs_to(line: Line, current: Paragraph, layout: Layout) -> bool:
    """Whether a line continues the paragraph above it."""
    above = current.lines[-1]
    if above.rows or line.rows:
        return False
    if current.kind == "code":
        is_code = line.is_mono or (line.is_partly_mono and line.size == above.size != layout.size)
        return is_code and 0 < above.bottom - line.y <= 2 * _GAP * layout.leading
    if abs(above.size - line.size) > 0.6:
        return False
    large = line.size >= LARGER * layout.size
    leading = 1.3 * line.size if large or line.size < 0.9 * layout.size else layout.leading
    if not 0 < above.bottom - line.y <= _GAP * leading:
        return False
    if large:
        return above.is_bold == line.is_bold
    if above.is_bold and not line.is_bold and len(current.lines) == 1 and not _is_filled(above, line, layout):
        return False
    return _continues_indent(line, current, layout)


def _continues_indent(line: Line, current: Paragraph, layout: Layout) -> bool:
    above = current.lines[-1]
    filled = _is_filled(above, line, layout)
    if line.is_mono and not layout.is_mono and not filled:
        return False
    if _MARKER.match(line.text):
        is_sign = not _NUMBER_MARKER.match(line.text)
        if is_sign or current.kind == "item" or not filled or _SENTENCE_END.search(above.text):
            return False
    if not filled and _SENTENCE_END.search(above.text):
        return False
    first = current.lines[0]
    if current.rest_x0 is not None:
        return abs(line.x0 - current.rest_x0) <= _INDENT
    if current.kind in ("item", "note"):
        return line.x0 >= first.x0 - 1.5 * _INDENT * (current.kind == "note") - 2
    hangs = filled and not _SENTENCE_END.search(above.text)
    return first.x0 - _EDGE_WINDOW <= line.x0 <= first.x0 + (_EDGE_WINDOW if hangs else _INDENT)


def _is_filled(above: Line, line: Line, layout: Layout) -> bool:
    """Whether the line above had no room for the first word of the next."""
    if above.is_row:
        return False
    word = line.text.split(" ", 1)[0]
    width = _WIDE * (line.x1 - line.x0) * (len(word) + 1) / max(1, len(line.text))
    if LINE_END_HYPHEN in above.text and above.bottom < above.y - 1:  # two lines; the first was full
        return True
    return above.x1 + width > layout.right_edge(above) - 1


def _is_column_break(before: Paragraph, after: Paragraph) -> bool:
    """Whether a paragraph begins the next column: higher up, and beside the last one."""
    last, first = before.lines[-1], after.lines[0]
    return first.y > last.bottom and first.x0 >= last.x0 + _EDGE_WINDOW


def _join_over_break(paragraphs: list[Paragraph], start: int, layout: Layout) -> None:
    """Move the first lines of a page or column to the paragraph that they end."""
    first = paragraphs[start]
    if first.kind == "table":
        _join_tables(paragraphs, start)
        return
    if first.kind != "paragraph" or first.lines[0].size != layout.size:
        return
    before = next((p for p in reversed(paragraphs[:start]) if p.kind != "note"), None)
    if before is None or before.kind not in ("paragraph", "item") or before.page < first.page - 1:
        return
    last, text = before.lines[-1], first.lines[0].text
    goes_on = last.text[-1] in ",-" or (
        text[0].islower() and not _SENTENCE_END.search(last.text) and _is_filled(last, first.lines[0], layout)
    )
    if last.size == layout.size and goes_on:
        before.lines += first.lines
        del paragraphs[start]


def _join_tables(paragraphs: list[Paragraph], start: int) -> None:
    """A table that begins a page goes on with the one that ended the last page when it has the same columns;
    its header is not repeated."""
    first = paragraphs[start].lines[0]
    before = paragraphs[start - 1].lines[-1] if start else first
    is_same = before.rows and len(before.rows[0]) == len(first.rows[0]) and before.page == first.page - 1
    if start and is_same and abs(before.x0 - first.x0) <= _INDENT and abs(before.x1 - first.x1) <= _INDENT:
        rows = first.rows[1:] if first.rows[0] == paragraphs[start - 1].lines[0].rows[0] else first.rows
        paragraphs[start - 1].lines.append(replace(first, rows=rows))
        del paragraphs[start]


def join_cells(paragraph: Paragraph, layout: Layout) -> list[list[str]]:
    """The rows of a table, each cell on one line."""
    rows = (row for line in paragraph.lines for row in line.rows)
    return [[_join_cell(cell, layout) for cell in row] for row in rows]


def _join_cell(cell: str, layout: Layout) -> str:
    text, *lines = cell.split("\n")
    for line in filter(None, lines):
        text = join_lines(text, line) if text else line
    return mend_words(text, layout.vocabulary)


def _join_lines(paragraph: Paragraph, layout: Layout) -> str:
    if paragraph.kind == "table":
        return paragraph.lines[0].text
    if paragraph.kind == "code":
        return _join_code_lines(paragraph.lines)
    large = paragraph.lines[0].size >= LARGER * layout.size
    text = paragraph.lines[0].text
    for above, line in pairwise(paragraph.lines):
        text = join_lines(text, line.text, is_run_on=large or _is_run_on(above, line, layout))
    if paragraph.kind == "item" and not _NUMBER_MARKER.match(text):
        text = _MARKER.sub("", text, count=1)
    return mend_words(text, layout.vocabulary).strip()


def _is_run_on(above: Line, line: Line, layout: Layout) -> bool:
    """Whether only the width of the page broke the line; else it is a row of its own."""
    return above.page != line.page or _is_filled(above, line, layout)


def _join_code_lines(lines: Sequence[Line]) -> str:
    """Code keeps its lines, and its indents by the width of its characters."""
    left = min(line.x0 for line in lines)
    pitches = [(line.x1 - line.x0) / len(line.text) for line in lines if line.bottom == line.y]
    pitch = median(pitches) if pitches else 0.0
    indents = [round((line.x0 - left) / pitch) if pitch > 0 else 0 for line in lines]
    rows = (" " * min(40, n) + line.text for n, line in zip(indents, lines, strict=True))
    return "\n".join(rows).replace(LINE_END_HYPHEN, "-")


def _join_code(paragraphs: list[Paragraph]) -> list[Paragraph]:
    """Code that a page break divides as one."""
    joined: list[Paragraph] = []
    for paragraph in paragraphs:
        former = joined[-1] if joined else None
        if former and former.kind == paragraph.kind == "code" and former.page < paragraph.page:
            former.text += f"\n{paragraph.text}"
        else:
            joined.append(paragraph)
    return joined


# --- headings ---


def mark_headings(paragraphs: Sequence[Paragraph], layout: Layout) -> None:
    """Mark paragraphs in larger or bold type as headings, and a short bold or fixed-pitch line above an
    indented paragraph as a term with its definition."""
    for n, paragraph in enumerate(paragraphs):
        following = paragraphs[n + 1] if n + 1 < len(paragraphs) else None
        paragraph.is_larger = paragraph.lines[0].size >= LARGER * layout.size
        if _is_heading(paragraph):
            paragraph.kind = "heading"
        if following is not None and _is_term(paragraph, following, layout):
            paragraph.kind = "term"
            _mark_definition(paragraphs, n)


def _is_heading(paragraph: Paragraph) -> bool:
    lines = paragraph.lines
    if paragraph.kind in ("code", "note", "table") or not any(c.isalpha() for c in paragraph.text):
        return False
    if paragraph.is_larger:
        return len(paragraph.text) <= _MAX_HEADING_CHARACTERS
    is_short = len(lines) <= 2 and len(paragraph.text) <= _MAX_BOLD_HEADING_CHARACTERS
    is_set_off = all(line.is_bold for line in lines) and not _is_signed_item(paragraph)
    return is_short and is_set_off and not re.search(r"[.,;:]$", paragraph.text)


def _is_signed_item(paragraph: Paragraph) -> bool:
    return paragraph.kind == "item" and not _NUMBER_MARKER.match(paragraph.lines[0].text)


def _is_term(paragraph: Paragraph, following: Paragraph, layout: Layout) -> bool:
    line = paragraph.lines[0]
    is_short = len(paragraph.lines) == 1 and len(line.text) <= 80 and line.size < LARGER * layout.size
    is_set_off = (line.is_bold or line.is_mono) and not layout.is_mono and not _is_signed_item(paragraph)
    below = following.lines[0]
    is_below = below.page == line.page and 0 < line.bottom - below.y <= 2 * layout.leading
    return (
        is_short
        and is_set_off
        and is_below
        and following.kind in ("paragraph", "item")
        and below.x0 > line.x0 + _INDENT
    )


def _mark_definition(paragraphs: Sequence[Paragraph], at: int) -> None:
    """The paragraphs under a term that are indented as its first one are its definition."""
    left = paragraphs[at + 1].lines[0].x0
    for paragraph in paragraphs[at + 1 :]:
        if paragraph.kind != "paragraph" or paragraph.lines[0].x0 < left - _INDENT:
            break
        paragraph.kind = "definition"
