"""What the lines of a PDF are to a reader: paragraphs, list items, terms, code, tables and headings.

Judged by geometry (gaps, indents, the right edge) and type, never words, to hold for every language."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from statistics import median
from typing import Literal

from agent.web.extract.formats.pdf_lines import LINE_END_HYPHEN, Line

ParagraphKind = Literal["paragraph", "heading", "term", "definition", "item", "code", "note", "table"]

LARGER = 1.1
"""A heading's size over that of the body: the smallest step of the usual scales is 1.2."""
_SMALLER = 0.9
_MARKER = re.compile(r"(?:[•◦▪▫‣⁃●○■□➢➤✓*·–—-]|\uf0b7|\(?[0-9]{1,3}[.)]|\(?[a-zA-Z][.)])\s+(?=\S)")
"""The sign or number that opens a list item."""
_NUMBER_MARKER = re.compile(r"\(?[0-9a-zA-Z]{1,3}[.)]\s")
SECTION_NUMBER = re.compile(r"(?:\d+\.)+\d*\s")
_SENTENCE_END = re.compile(r"[.!?:;。！？][\"'”’»)\]]*$")
_BROKEN_ADDRESS = re.compile(r"(?:(?:https?://|www\.)\S*[/.\-_=&?#]|https?:|\S/)$")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_BROKEN_WORD = re.compile(rf"([^\W\d_]*){LINE_END_HYPHEN}([^\W\d_]*)")
_UNSPACED = re.compile("[\u3000-\u30ff\u3400-\u9fff！，（）：；？]")
"""Characters of scripts that write no blanks between words: Han, kana, their marks."""
_GAP = 1.35
"""Baselines further apart than this many usual distances separate paragraphs (typesetters add half a line;
a superscript moves a line by a tenth)."""
_INDENT = 5.0
"""Points by which a line must be indented to begin a paragraph: half the smallest indent in use (1 em)."""
_COLUMN = 60.0
"""Lines that begin within so many points of each other belong to one column."""
_JUSTIFIED = 0.3
"""The share of a column's lines that end at the same point when it is justified, at least."""
_WIDE = 1.15
"""How much wider than the line's average a word may be (capitals)."""
_MAX_HEADING_CHARACTERS = 200
_MAX_SHORT_CHARACTERS = 100
"""Of a bold heading in the size of the text, and of a term."""


@dataclass
class Paragraph:
    """Lines that belong together; `text` once they are joined."""

    lines: list[Line]
    kind: ParagraphKind = "paragraph"
    text: str = ""
    rest_x0: float | None = None
    """Where its lines after the first begin."""

    @property
    def page(self) -> int:
        """The page it begins on."""
        return self.lines[0].page


class Layout:
    """What is usual in a document: type size, distance of baselines, ends of columns, words."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self.lines = [line for line in lines if not line.rows]
        sizes: Counter[float] = Counter()
        for line in self.lines:
            sizes[line.size] += len(line.text)
        self.size = sizes.most_common(1)[0][0] if sizes else 0.0
        mono = sum(len(line.text) for line in self.lines if line.is_mono)
        self.is_mono = mono > 0.6 * sizes.total()
        """Whether all of it is set in type of fixed pitch: then that is no sign of code."""
        steps = Counter(
            round(above.bottom - below.y, 1)
            for above, below in pairwise(self.lines)
            if above.size == below.size == self.size and 0 < above.bottom - below.y < 2 * self.size
        )
        self.leading = steps.most_common(1)[0][0] if steps else 1.2 * self.size
        whole = (word for line in self.lines for word in line.text.split()[1:-1])  # no line's end breaks them
        self.vocabulary = Counter(
            part.lower() for word in whole if LINE_END_HYPHEN not in word for part in _WORD.findall(word)
        )
        ends: dict[int, list[float]] = defaultdict(list)
        for line in self.lines:
            if len(line.text) > 30 and (not line.is_mono or self.is_mono):
                ends[round(line.x0 / _COLUMN)].append(line.x1)
        self._edges: dict[int, float] = {}
        for column, x1s in ends.items():
            # where most lines end when they are justified, else what nine in ten stay within
            usual, count = Counter(round(end / 2) * 2 for end in x1s).most_common(1)[0]
            within = sorted(x1s)[round(0.9 * (len(x1s) - 1))]
            self._edges[column] = float(usual) if count >= _JUSTIFIED * len(x1s) else within

    def right_edge(self, line: Line) -> float:
        """Where the lines of this line's column end."""
        return self._edges.get(round(line.x0 / _COLUMN), line.x1)


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
                continue
            kind: ParagraphKind = "item" if _MARKER.match(line.text) else "paragraph"
            kind = "note" if line.size < _SMALLER * layout.size else kind
            kind = "code" if line.is_mono and not layout.is_mono else kind
            paragraphs.append(Paragraph([line], "table" if line.rows else kind))
        if start < len(paragraphs):
            _join_over_page_break(paragraphs, start, layout)
    for paragraph in paragraphs:
        paragraph.text = _join_paragraph(paragraph, layout)
    return [paragraph for paragraph in paragraphs if paragraph.text]


def _belongs_to(line: Line, current: Paragraph, layout: Layout) -> bool:
    """Whether a line continues the paragraph above it."""
    above, step = current.lines[-1], current.lines[-1].bottom - line.y
    if current.kind == "table" or line.rows:
        return False
    if current.kind == "code":
        return line.is_mono and 0 < step <= 2 * _GAP * layout.leading
    is_larger = line.size >= LARGER * layout.size
    has_own_leading = is_larger or line.size < _SMALLER * layout.size
    leading = 1.3 * line.size if has_own_leading else layout.leading
    if abs(above.size - line.size) > 0.6 or not 0 < step <= _GAP * leading:
        return False
    if is_larger:
        return above.is_bold == line.is_bold
    above, first = current.lines[-1], current.lines[0]
    is_filled, is_ended = _is_filled(above, line, layout), bool(_SENTENCE_END.search(above.text))
    changes_type = (line.is_mono and not layout.is_mono) or (above.is_bold and not line.is_bold)
    if not is_filled and (is_ended or changes_type):
        return False
    if _MARKER.match(line.text):
        is_sign = not _NUMBER_MARKER.match(line.text)
        if is_sign or current.kind == "item" or not is_filled or is_ended:
            return False
    if current.rest_x0 is not None:
        return abs(line.x0 - current.rest_x0) <= _INDENT
    if current.kind in ("item", "note"):
        return line.x0 >= first.x0 - 2 * _INDENT
    hangs = is_filled and not is_ended
    return first.x0 - _COLUMN <= line.x0 <= first.x0 + (_COLUMN if hangs else _INDENT)


def _is_filled(above: Line, line: Line, layout: Layout) -> bool:
    """Whether the line above had no room for the first word of the next."""
    if above.is_row:
        return False
    word = line.text.split(" ", 1)[0]
    width = _WIDE * (line.x1 - line.x0) * (len(word) + 1) / max(1, len(line.text))
    is_double = LINE_END_HYPHEN in above.text and above.bottom < above.y - 1  # two lines; the first was full
    return is_double or above.x1 + width > layout.right_edge(above) - 1


def _join_over_page_break(paragraphs: list[Paragraph], start: int, layout: Layout) -> None:
    """Move the first lines of a page to the paragraph that they end."""
    first, text = paragraphs[start], paragraphs[start].lines[0].text
    before = next((p for p in reversed(paragraphs[:start]) if p.kind != "note"), None)
    if first.kind != "paragraph" or before is None or before.kind not in ("paragraph", "item"):
        return
    last = before.lines[-1]
    is_open = not _SENTENCE_END.search(last.text) and _is_filled(last, first.lines[0], layout)
    goes_on = last.text[-1] in ",-" or (text[0].islower() and is_open)
    if last.size == first.lines[0].size == layout.size and goes_on:
        before.lines += first.lines
        del paragraphs[start]


# --- words that the end of a line breaks ---


def _join_paragraph(paragraph: Paragraph, layout: Layout) -> str:
    if paragraph.kind == "code":
        # Code keeps its lines, and its indents by the width of its characters
        left = min(line.x0 for line in paragraph.lines)
        pitch = median((line.x1 - line.x0) / len(line.text) for line in paragraph.lines)
        indents = [min(40, round((line.x0 - left) / pitch)) if pitch > 0 else 0 for line in paragraph.lines]
        rows = (" " * indent + line.text for indent, line in zip(indents, paragraph.lines, strict=True))
        return "\n".join(rows).replace(LINE_END_HYPHEN, "-")
    is_larger = paragraph.lines[0].size >= LARGER * layout.size
    text = paragraph.lines[0].text
    for above, line in pairwise(paragraph.lines):
        is_run_on = is_larger or above.page != line.page or _is_filled(above, line, layout)
        text = _join_lines(text, line.text) if is_run_on else f"{text}\n{line.text}"
    if paragraph.kind == "item" and not _NUMBER_MARKER.match(text):
        text = _MARKER.sub("", text, count=1)
    return _mend_words(text, layout)


def join_cells(paragraph: Paragraph, layout: Layout) -> list[list[str]]:
    """The rows of a table, each cell on one line."""
    cells = [[[*filter(None, cell.split("\n"))] for cell in row] for row in paragraph.lines[0].rows]
    return [[_mend_words(reduce(_join_lines, cell or [""]), layout) for cell in row] for row in cells]


def _join_lines(text: str, line: str) -> str:
    """A text with the next line; a broken word keeps a mark for `_mend_words`."""
    if text[-1] in "-‐" and text[-2:-1].isalnum() and line[:1].isalnum():
        is_broken = text[-2].isalpha() and line[0].islower()
        return f"{text[:-1]}{LINE_END_HYPHEN}{line}" if is_broken else text + line
    is_unspaced = _UNSPACED.match(text[-1]) and _UNSPACED.match(line)
    return f"{text}{'' if is_unspaced or _BROKEN_ADDRESS.search(text) else ' '}{line}"


def _mend_words(text: str, layout: Layout) -> str:
    """The text with broken words as one, or with a hyphen where the document spells it so, or where each half
    is a word of the document and the whole is none."""

    def mend(found: re.Match[str]) -> str:
        left, right = found[1], found[2]
        whole, parted = (layout.vocabulary[w.lower()] for w in (left + right, f"{left}-{right}"))
        has_both = min(len(left), len(right)) >= 3 and all(
            layout.vocabulary[w.lower()] for w in (left, right)
        )
        keeps_hyphen = parted > whole or (has_both and not whole) or not (left and right)
        return f"{left}-{right}" if keeps_hyphen else left + right

    return _BROKEN_WORD.sub(mend, text).strip()


# --- headings ---


def mark_headings(paragraphs: Sequence[Paragraph], layout: Layout) -> None:
    """Mark paragraphs in larger type as headings (bold ones in the size of the text, too, where nothing is
    larger or they are numbered), and a short bold or fixed-pitch line above an indented paragraph as a term
    with its definition."""
    larger = {id(p) for p in paragraphs if p.lines[0].size >= LARGER * layout.size and _can_be_heading(p)}
    for n, paragraph in enumerate(paragraphs):
        is_item = paragraph.kind == "item" and not _NUMBER_MARKER.match(paragraph.lines[0].text)
        is_short = len(paragraph.lines) <= 2 and len(paragraph.text) <= _MAX_SHORT_CHARACTERS
        is_short = is_short and paragraph.text[-1:] not in (*".,;:",) and not is_item
        is_bold = all(line.is_bold for line in paragraph.lines) and is_short
        is_usual = len(larger) < 2 or SECTION_NUMBER.match(paragraph.text)
        if id(paragraph) in larger:
            paragraph.kind = "heading"
        elif n + 1 < len(paragraphs) and _is_term(paragraph, paragraphs[n + 1], layout):
            paragraph.kind = "term"
            for below in paragraphs[n + 1 :]:  # what is indented as the first one is its definition
                is_indented = below.lines[0].x0 >= paragraphs[n + 1].lines[0].x0 - _INDENT
                if below.kind != "paragraph" or not is_indented:
                    break
                below.kind = "definition"
        elif is_bold and is_usual and _can_be_heading(paragraph):
            paragraph.kind = "heading"


def _can_be_heading(paragraph: Paragraph) -> bool:
    is_text = any(character.isalpha() for character in paragraph.text)
    is_prose = paragraph.kind not in ("code", "note", "table")
    return is_prose and is_text and len(paragraph.text) <= _MAX_HEADING_CHARACTERS


def _is_term(paragraph: Paragraph, following: Paragraph, layout: Layout) -> bool:
    line, below = paragraph.lines[-1], following.lines[0]
    is_set_off = (line.is_bold or line.is_mono) and not layout.is_mono
    is_alone = len(paragraph.lines) == 1 and len(line.text) <= _MAX_SHORT_CHARACTERS and not line.rows
    is_below = below.page == line.page and 0 < line.bottom - below.y <= 2 * layout.leading
    is_indented = following.kind in ("paragraph", "item") and below.x0 > line.x0 + _INDENT
    return is_set_off and is_alone and is_below and is_indented and not _MARKER.match(line.text)
