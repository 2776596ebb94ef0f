"""What pages of a PDF hold that is no part of its text: running heads, page numbers, contents."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from agent.web.extract.formats.pdf_lines import Line

_LEADER = re.compile(r"\s?(?:[.·…‥]\s?){3,}\s*([ivxlcdm]+|[IVXLCDM]+|\d{1,4})?\s*$")
"""Dots that lead to a page number, and the number."""
_LAST_NUMBER = re.compile(r"\s(\d{1,4})\s*$")
_NUMBER = re.compile(r"\d+|\b[ivxlcdm]+\b")
_BAND = 1.0
"""Points within which a running head keeps its height from page to page."""
_NEAR_PAGES = 4
"""A running head returns within so many pages: it may differ by chapter and by side of the sheet."""
_MIN_CONTENTS_LINES = 3


def drop_running_heads(pages: Sequence[Sequence[Line]], largest: float) -> list[list[Line]]:
    """The pages without their outermost lines where these are smaller than `largest` and at a height where
    most repeat the words of a page nearby; nothing is dropped where that would empty every fourth page."""
    kept = [list(lines) for lines in pages]
    for edge in (max, min):
        outer = [edge(lines, key=lambda line: line.y) if lines else None for lines in pages]
        heads = [line if line and line.size < largest and not line.rows else None for line in outer]
        heights: dict[int, list[bool]] = defaultdict(list)
        for number, head in enumerate(heads):
            near = heads[max(0, number - _NEAR_PAGES) : number] + heads[number + 1 :][:_NEAR_PAGES]
            if head:
                heights[round(head.y)].append(any(other and _is_alike(head, other) for other in near))
        running = {y for y, alike in heights.items() if sum(alike) >= max(2, 0.5 * len(alike))}
        left = [
            [line for line in lines if not (head and line.y == head.y and round(head.y) in running)]
            for lines, head in zip(kept, heads, strict=True)
        ]
        if 4 * sum(map(bool, left)) >= 3 * sum(map(bool, kept)):
            kept = left
    return kept


def _is_alike(line: Line, other: Line) -> bool:
    words, others = (set(_NUMBER.sub("", text.text.lower()).split()) for text in (line, other))
    is_counted = not words and not others  # nothing but page numbers
    shared = 2 * len(words & others) > min(len(words), len(others))
    return abs(line.y - other.y) <= _BAND and (is_counted or shared)


def drop_contents(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """The pages without tables of contents (and of figures): entries whose page numbers rise, set apart by
    leaders. Other leaders become a blank."""
    kept: list[list[Line]] = []
    goes_on = False
    for lines in pages:
        kept.append(_drop_entries(list(lines), 1 if goes_on else _MIN_CONTENTS_LINES))
        goes_on = bool(lines) and not kept[-1]
    return kept


def _drop_entries(lines: list[Line], least: int) -> list[Line]:
    """The lines of a page without the entries of a table of contents, if there are at `least` so many."""
    marks = {n: found for n, line in enumerate(lines) if (found := _LEADER.search(line.text))}
    entries = [(n, found[1]) for n, found in marks.items() if found[1]]
    if len(entries) >= least and _is_rising([number for _, number in entries]):
        first, last = entries[0][0], entries[-1][0]
        while last + 1 < len(lines) and _LAST_NUMBER.search(lines[last + 1].text):
            last += 1
        return lines[last + 1 :] if first <= 8 else lines[:first] + lines[last + 1 :]
    for n, found in marks.items():
        text = f"{lines[n].text[: found.start()]} {found[1] or ''}".strip()
        lines[n] = replace(lines[n], text=text, is_row=True)  # its end is that of the dots
    return [line for line in lines if line.text]


def _is_rising(numbers: Sequence[str]) -> bool:
    """Whether nearly all page numbers are followed by the same or a higher one; Roman ones count as zero."""
    values = [int(number) if number.isdigit() else 0 for number in numbers]
    steps = [a <= b for a, b in pairwise(values)]
    return sum(steps) >= 0.9 * len(steps)
