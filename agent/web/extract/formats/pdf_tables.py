"""The tables of a PDF page: cells between ruled lines.

A PDF knows no tables; one with rules between its columns and rows can be told by geometry alone. Tables that
are set by blanks only stay lines of text."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import pypdfium2.raw as pdfium
from pypdfium2 import PdfPage, PdfTextPage

_THIN = 2.5
"""A drawn area no thicker than so many points is a line: the usual rules have 0.4 to 1."""
_TOUCH = 3.0
"""Lines within so many points of each other meet: corners are often drawn with gaps."""
_MIN_LENGTH = 5.0
_MAX_LINES = 800
"""A page with more is a drawing."""
_MAX_COLUMNS = 40
_MIN_FILLED = 0.4
"""The share of cells with text in a table, at least; a chart has less."""


@dataclass(frozen=True)
class Rule:
    """A straight line; across or down the page."""

    left: float
    bottom: float
    right: float
    top: float

    @property
    def is_across(self) -> bool:
        """Whether it separates rows."""
        return self.right - self.left >= self.top - self.bottom


@dataclass(frozen=True)
class RuledTable:
    """A table with its place on the page."""

    left: float
    bottom: float
    right: float
    top: float
    rows: list[list[str]]


def find_tables(page: PdfPage, text_page: PdfTextPage) -> list[RuledTable]:
    """The ruled tables of at least two rows and columns, from the top of the page."""
    rules = _read_rules(page)
    if len(rules) < 3 or len(rules) > _MAX_LINES:
        return []
    found = (_read_table(group, text_page) for group in _group_rules(rules))
    return sorted((table for table in found if table), key=lambda table: -table.top)


def _read_rules(page: PdfPage) -> list[Rule]:
    """The thin areas that are drawn on the page, and the edges of thin-lined boxes."""
    rules: list[Rule] = []
    sides = [ctypes.c_float() for _ in range(4)]
    for index in range(pdfium.FPDFPage_CountObjects(page)):
        drawn = pdfium.FPDFPage_GetObject(page, index)
        if pdfium.FPDFPageObj_GetType(drawn) != pdfium.FPDF_PAGEOBJ_PATH:
            continue
        if not pdfium.FPDFPageObj_GetBounds(drawn, *sides):
            continue
        left, bottom, right, top = (side.value for side in sides)
        width, height = right - left, top - bottom
        if min(width, height) <= _THIN and max(width, height) >= _MIN_LENGTH:
            rules.append(Rule(left, bottom, right, top))
        elif min(width, height) > _THIN and _is_stroked(drawn):
            rules += [Rule(left, y, right, y) for y in (bottom, top)]
            rules += [Rule(x, bottom, x, top) for x in (left, right)]
        if len(rules) > _MAX_LINES:
            break
    return rules


def _is_stroked(drawn: pdfium.FPDF_PAGEOBJECT) -> bool:
    """Whether it is a rectangle with a visible outline."""
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    is_known = pdfium.FPDFPath_GetDrawMode(drawn, fill, stroke)
    return bool(is_known and stroke.value and pdfium.FPDFPath_CountSegments(drawn) in (4, 5))


def _group_rules(rules: Sequence[Rule]) -> Iterable[list[Rule]]:
    """The rules that meet, in groups."""
    left = list(rules)
    while left:
        group, edge = [], [left.pop()]
        while edge:
            rule = edge.pop()
            group.append(rule)
            touching = [other for other in left if _meets(rule, other)]
            edge += touching
            known = set(map(id, touching))
            left = [other for other in left if id(other) not in known]
        yield group


def _meets(one: Rule, other: Rule) -> bool:
    return (
        one.left <= other.right + _TOUCH
        and other.left <= one.right + _TOUCH
        and one.bottom <= other.top + _TOUCH
        and other.bottom <= one.top + _TOUCH
    )


def _read_table(group: Sequence[Rule], text_page: PdfTextPage) -> RuledTable | None:
    across, down = [r for r in group if r.is_across], [r for r in group if not r.is_across]
    if not across or not down:
        return None
    # a table may be open at its sides: its other rules end there
    xs = _merge_near([*(r.left for r in down), min(r.left for r in across), max(r.right for r in across)])
    ys = _merge_near([*(r.bottom for r in across), min(r.bottom for r in down), max(r.top for r in down)])
    if not 3 <= len(xs) <= _MAX_COLUMNS or len(ys) < 3:
        return None
    rows: list[list[str]] = []
    for top, bottom in pairwise(reversed(ys)):
        cells = [text_page.get_text_bounded(left, bottom, right, top) for left, right in pairwise(xs)]
        rows += _split_row(cells)
    rows = [row for row in rows if any(row)]
    filled = sum(bool(cell) for row in rows for cell in row)
    if len(rows) < 2 or filled < _MIN_FILLED * len(rows) * (len(xs) - 1):
        return None
    return RuledTable(xs[0], ys[0], xs[-1], ys[-1], rows)


def _split_row(cells: Sequence[str]) -> list[list[str]]:
    """A row's cells; those of several rows without rules between them where each cell has as many lines."""
    lines = [[line.strip() for line in cell.strip().splitlines()] for cell in cells]
    counts = {len(cell) for cell in lines}
    if len(counts) == 1 and (count := counts.pop()) > 2:
        return [[cell[n] for cell in lines] for n in range(count)]
    return [["\n".join(cell) for cell in lines]]


def _merge_near(values: Iterable[float]) -> list[float]:
    """The values in order, those within `_TOUCH` of each other as one."""
    merged: list[float] = []
    for value in sorted(values):
        if not merged or value - merged[-1] > _TOUCH:
            merged.append(value)
    return merged


def find_table_at(x: float, y: float, tables: Sequence[RuledTable]) -> int | None:
    """The number of the table that holds this point."""
    for number, table in enumerate(tables):
        if table.left - _TOUCH <= x <= table.right + _TOUCH and table.bottom <= y <= table.top:
            return number
    return None
