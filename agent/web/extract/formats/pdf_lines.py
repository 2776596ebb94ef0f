"""The lines of a PDF page with their geometry, by pdfium: position, size, weight and pitch of the type."""

from __future__ import annotations

import ctypes
import re
import unicodedata
from dataclasses import dataclass, replace

import pypdfium2.raw as pdfium
from pypdfium2 import PdfPage, PdfTextPage

from agent.text import normalization
from agent.web.extract.formats.pdf_tables import RuledTable, find_table_at, find_tables

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
