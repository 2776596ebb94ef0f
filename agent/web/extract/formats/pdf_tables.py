"""The tables of a PDF page: cells between ruled lines.

A PDF knows no tables; one with rules between its columns and rows can be told by geometry alone. Tables that
are set by blanks only stay lines of text."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import pypdfium2.raw as pdfium
from pypdfium2 import PdfPage, PdfTextPage

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
