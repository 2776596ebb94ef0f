"""The lines and ruled tables of a PDF page with their geometry, by pdfium: position, size, weight and pitch
of the type."""

from __future__ import annotations

import ctypes
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import pypdfium2.raw as pdfium
from pypdfium2 import PdfPage, PdfTextPage

from agent.text import normalization

LINE_END_HYPHEN = "\uffff"
"""Stands for pdfium's mark (U+FFFE or U+0002) for a hyphen at the end of a line, where it joins both halves
of the word: no text holds it."""
_FIXED_PITCH = 1
"""The font flag of fixed pitch (PDF 1.7, 9.8.2)."""
_BOLD_WEIGHT = 600
_MONO_NAME = re.compile(rb"mono|courier|consol|typewriter|fixed|tt$|inconsolata|menlo", re.IGNORECASE)
_BOLD_NAME = re.compile(rb"bold|black|heavy|semibold|demi", re.IGNORECASE)
_FIGURES = re.compile(r"(?<=\S)[0-9]{1,3}")
_TYPED_SUPERSCRIPT = re.compile("(?<=[0-9])[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_SMALL = 0.8
"""A superscript's share of the size of the type before it, at most."""
_RAISED = 0.2
"""How far a superscript stands above the line, as a share of the size of the type before it, at least."""
_SPACED_GRAVE = re.compile("[ \u00a0]\u0300")
"""How a PDF of TeX spells an opening quotation mark."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a page. Lengths are in points, `y` and `bottom` are the baselines of its first and last
    character above the page's foot; they differ where a word was broken and joined. `x0` is where
    reading begins: lines that are read from right to left are mirrored at the page's left edge."""

    text: str
    page: int
    x0: float
    x1: float
    y: float
    bottom: float
    size: float
    is_bold: bool
    is_mono: bool
    is_row: bool = False
    """Whether it is a row of its own, however wide it is."""
    rows: tuple[tuple[str, ...], ...] = ()
    """The cells of a table that stands here."""


def read_lines(page: PdfPage, number: int) -> list[Line]:
    """The page's lines in the order of the file; pieces side by side on one line are joined, and a table is
    one line where its first text stands."""
    text_page = page.get_textpage()
    tables = find_tables(page, text_page)
    lines: list[Line] = []
    written: set[int] = set()
    start = 0
    for text in _read_characters(text_page).split("\r\n"):
        if text.strip():
            line = _measure_line(text_page, text, start, number)
            inside = find_table_at(abs(line.x0), line.y, tables)
            if inside is None:
                former = lines[-1] if lines else line
                rise = min(abs(former.bottom - line.y), abs(former.y - line.y))
                # its last figure may be raised
                is_raised = former.text.isdecimal() and former.size <= _SMALL * line.size
                is_beside = bool(lines) and line.x0 >= former.x1 - 1 and not former.rows
                if is_beside and rise < (0.6 if is_raised else 0.3) * line.size:
                    gap = " " if line.x0 - former.x1 > 0.1 * line.size else ""
                    lines[-1] = replace(
                        former, text=f"{former.text}{gap}{line.text}", x1=line.x1, bottom=line.bottom
                    )
                else:
                    lines.append(line)
            elif inside not in written:
                written.add(inside)
                lines.append(_build_table_line(tables[inside], line))
        start += len(text) + 2
    text_page.close()
    return [line for line in lines if line.text]


def _build_table_line(table: RuledTable, first: Line) -> Line:
    rows = tuple(
        tuple(
            "\n".join(" ".join(normalize_characters(line).split()) for line in cell.splitlines())
            for cell in row
        )
        for row in table.rows
    )
    return replace(
        first,
        y=table.box.top,
        bottom=table.box.bottom,
        x0=table.box.left,
        x1=table.box.right,
        is_row=True,
        rows=rows,
    )


def normalize_characters(text: str) -> str:
    """Plain characters (`agent.text.normalization`), with figures typed as superscripts as 10^3."""
    text = _SPACED_GRAVE.sub("`", text.replace("\x02", LINE_END_HYPHEN).replace("\ufffe", LINE_END_HYPHEN))
    text = _TYPED_SUPERSCRIPT.sub(lambda found: "^" + unicodedata.normalize("NFKC", found[0]), text)
    return normalization.normalize_characters(text)


def _read_characters(text_page: PdfTextPage) -> str:
    """The page's text with one character for each that pdfium counts. Its call for the whole page leaves some
    out and cuts those beyond U+FFFF to 16 bits, which then look like East Asian ones; such a page is read
    character by character."""
    count = text_page.count_chars()
    text = text_page.get_text_range() if count else ""
    if len(text) == count and (text.isascii() or max(text) < "\u2e80" or max(text) == "\ufffe"):
        return text
    codes = (pdfium.FPDFText_GetUnicode(text_page, index) for index in range(count))
    return "".join(chr(code) if 0 < code < 0x110000 else " " for code in codes)


def _measure_line(text_page: PdfTextPage, text: str, start: int, number: int) -> Line:
    first = start + len(text) - len(text.lstrip())
    last = start + len(text.rstrip()) - 1
    middle = (first + last) // 2
    probes = [_FontProbe(text_page, at) for at in (first, middle, last)]
    left, right = text_page.get_charbox(first, loose=True), text_page.get_charbox(last, loose=True)
    x0, x1 = left[0], right[2]
    if x0 > x1:  # written from right to left
        x0, x1 = -left[2], -right[0]
    return Line(
        text=" ".join(normalize_characters(_mark_superscripts(text_page, text, start)).split()),
        page=number,
        x0=x0,
        x1=x1,
        y=_origin(text_page, first),
        bottom=_origin(text_page, last),
        size=round(max(probe.size for probe in probes), 1),
        is_bold=probes[0].is_bold and probes[-1].is_bold,
        is_mono=all(probe.is_mono for probe in probes),
    )


class _FontProbe:
    """Size, weight and pitch of the character at an index."""

    def __init__(self, text_page: PdfTextPage, index: int) -> None:
        flags, name = ctypes.c_int(), ctypes.create_string_buffer(100)
        pdfium.FPDFText_GetFontInfo(text_page, index, name, 100, flags)
        family = name.value
        self.size = _size_of(text_page, index)
        self.is_mono = bool(flags.value & _FIXED_PITCH) or bool(_MONO_NAME.search(family))
        weight = pdfium.FPDFText_GetFontWeight(text_page, index)
        self.is_bold = weight >= _BOLD_WEIGHT or bool(_BOLD_NAME.search(family))


def _size_of(text_page: PdfTextPage, index: int) -> float:
    """The size of the type as it is drawn: the font's size, scaled."""
    matrix = pdfium.FS_MATRIX()
    size: float = pdfium.FPDFText_GetFontSize(text_page, index)
    if pdfium.FPDFText_GetMatrix(text_page, index, matrix):
        size *= (matrix.b**2 + matrix.d**2) ** 0.5 or 1.0
    return size


def _origin(text_page: PdfTextPage, index: int) -> float:
    x, y = ctypes.c_double(), ctypes.c_double()
    pdfium.FPDFText_GetCharOrigin(text_page, index, x, y)
    return y.value


def _mark_superscripts(text_page: PdfTextPage, text: str, start: int) -> str:
    """The text with small raised figures as 10^3, so that no number and no word takes them in."""
    marks = []
    for figures in _FIGURES.finditer(text):
        for at in range(figures.start(), figures.end()):
            large = _size_of(text_page, start + at - 1)
            rise = _origin(text_page, start + at) - _origin(text_page, start + at - 1)
            if _size_of(text_page, start + at) <= _SMALL * large and rise >= _RAISED * large:
                marks.append(at)
                break
    for at in reversed(marks):
        text = f"{text[:at]}^{text[at:]}"
    return text


# The tables of a page: cells between ruled lines. A PDF knows no tables; one with rules between its columns
# and rows can be told by geometry alone. Tables that are set by blanks only stay lines of text.

_THIN = 2.5
"""A drawn area no thicker than so many points is a line: the usual rules have 0.4 to 1."""
_TOUCH = 3.0
"""Lines within so many points of each other meet: corners are often drawn with gaps."""
_MIN_LENGTH = 5.0
_MAX_RULES = 800
"""A page with more is a drawing."""
_MIN_FILLED = 0.4
"""The share of cells with text in a table, at least; a chart has less."""


class Box(NamedTuple):
    """An area of a page, in points from its foot and left side."""

    left: float
    bottom: float
    right: float
    top: float


@dataclass(frozen=True)
class RuledTable:
    """A table with its place on the page; a cell's lines are separated by line ends."""

    box: Box
    rows: list[list[str]]


def find_tables(page: PdfPage, text_page: PdfTextPage) -> list[RuledTable]:
    """The ruled tables of at least two rows and columns."""
    rules = list(_read_rules(page))
    if not 3 <= len(rules) <= _MAX_RULES:
        return []
    tables: list[RuledTable] = []
    while rules:
        group = [rules.pop()]
        for rule in group:  # it grows by the rules that meet it
            group += [other for other in rules if _meets(rule, other)]
            rules = [other for other in rules if not _meets(rule, other)]
        if table := _read_table(group, text_page):
            tables.append(table)
    return tables


def find_table_at(x: float, y: float, tables: Sequence[RuledTable]) -> int | None:
    """The number of the table that holds this point."""
    for number, table in enumerate(tables):
        if (
            table.box.left - _TOUCH <= x <= table.box.right + _TOUCH
            and table.box.bottom <= y <= table.box.top
        ):
            return number
    return None


def _read_rules(page: PdfPage) -> Iterator[Box]:
    """The thin areas that are drawn on the page, and the sides of boxes."""
    sides = [ctypes.c_float() for _ in range(4)]
    for index in range(pdfium.FPDFPage_CountObjects(page)):
        drawn = pdfium.FPDFPage_GetObject(page, index)
        is_path = pdfium.FPDFPageObj_GetType(drawn) == pdfium.FPDF_PAGEOBJ_PATH
        if is_path and pdfium.FPDFPageObj_GetBounds(drawn, *sides):
            box = Box(*(side.value for side in sides))
            lengths = sorted((box.right - box.left, box.top - box.bottom))
            if lengths[0] <= _THIN and lengths[1] >= _MIN_LENGTH:
                yield box
            elif pdfium.FPDFPath_CountSegments(drawn) in (4, 5):
                yield from (box._replace(bottom=box.top), box._replace(top=box.bottom))
                yield from (box._replace(left=box.right), box._replace(right=box.left))


def _meets(one: Box, other: Box) -> bool:
    is_beside = one.left <= other.right + _TOUCH and other.left <= one.right + _TOUCH
    return is_beside and one.bottom <= other.top + _TOUCH and other.bottom <= one.top + _TOUCH


def _read_table(group: Sequence[Box], text_page: PdfTextPage) -> RuledTable | None:
    across = [rule for rule in group if rule.right - rule.left >= rule.top - rule.bottom]
    down = [rule for rule in group if rule.right - rule.left < rule.top - rule.bottom]
    if not across or not down:
        return None
    # a table may be open at its sides: its other rules end there
    xs = _merge_near([*(r.left for r in down), min(r.left for r in across), max(r.right for r in across)])
    ys = _merge_near([*(r.bottom for r in across), min(r.bottom for r in down), max(r.top for r in down)])
    if len(xs) < 3 or len(ys) < 3:
        return None
    rows = [
        [text_page.get_text_bounded(left, bottom, right, top).strip() for left, right in pairwise(xs)]
        for top, bottom in pairwise(reversed(ys))
    ]
    rows = [row for row in rows if any(row)]
    filled = sum(bool(cell) for row in rows for cell in row)
    if len(rows) < 2 or filled < _MIN_FILLED * len(rows) * (len(xs) - 1):
        return None
    return RuledTable(Box(xs[0], ys[0], xs[-1], ys[-1]), rows)


def _merge_near(values: Iterable[float]) -> list[float]:
    """The values in order, those within `_TOUCH` of each other as one."""
    merged: list[float] = []
    for value in sorted(values):
        if not merged or value - merged[-1] > _TOUCH:
            merged.append(value)
    return merged
