"""What stands on the pages of a PDF but is no part of its text: running heads, page numbers, tables of
contents."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from agent.web.extract.formats.pdf_layout import LARGER, WORD, Layout
from agent.web.extract.formats.pdf_lines import Line

_LEADER = re.compile(r"\s?(?:[.·…‥]\s?){3,}\s*([ivxlcdm]+|[IVXLCDM]+|\d{1,4})?\s*$")
"""Dots that lead to a page number, and the number."""
_LAST_NUMBER = re.compile(r"\s(\d{1,4})\s*$")
_ROMAN = re.compile(r"[ivxlcdm]+")
_BAND = 3.0
"""Points within which a running head keeps its height from page to page."""
_MIN_PAGES_WITH_HEAD = 3
_MIN_CONTENTS_LINES = 3


def drop_running_heads(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """The pages without the lines that stand at the same height of many pages in nearly the same words, and
    without page numbers."""
    kept = [list(lines) for lines in pages]
    largest = LARGER * Layout([line for lines in pages for line in lines]).size
    for edge in (max, min):
        for _ in range(2):  # a head of two lines
            outer = [edge(lines, key=lambda line: line.y) if lines else None for lines in kept]
            bands = _find_bands([line if line and line.size < largest else None for line in outer])
            if not bands:
                break
            outermost = [edge((line.y for line in lines), default=0.0) for lines in kept]
            left = [
                [
                    line
                    for line in lines
                    if abs(line.y - y) > _BAND or not any(abs(line.y - band) <= _BAND for band in bands)
                ]
                for lines, y in zip(kept, outermost, strict=True)
            ]
            if 4 * sum(map(bool, left)) < 3 * sum(map(bool, kept)):  # that was the text of the pages
                break
            kept = left
    return kept


def _find_bands(outermost: Sequence[Line | None]) -> list[float]:
    """The heights at which most outermost lines repeat what a page nearby has there, or count the pages."""
    by_height: dict[int, list[tuple[int, Line]]] = defaultdict(list)
    for number, line in enumerate(outermost):
        if line is not None:
            by_height[round(line.y / _BAND)].append((number, line))
    bands = []
    for height, found in by_height.items():
        words = {number: _head_words(line.text) for number, line in found}
        repeated = sum(
            any(
                other != number and abs(other - number) <= 4 and _is_alike(words[number], words[other])
                for other in words
            )
            for number in words
        )
        if len(found) >= _MIN_PAGES_WITH_HEAD and repeated >= 0.5 * len(found):
            bands.append(height * _BAND)
    return bands


def _head_words(text: str) -> frozenset[str]:
    """Its words; none for a page number, Arabic or Roman."""
    return frozenset(word for word in WORD.findall(text.lower()) if not _ROMAN.fullmatch(word))


def _is_alike(words: frozenset[str], others: frozenset[str]) -> bool:
    return 2 * len(words & others) >= min(len(words), len(others)) > 0 or not (words or others)


def drop_contents(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """The pages without tables of contents (and of figures): entries whose page numbers rise, set apart by
    leaders, or whose words are headings of the document. Other leaders become a blank."""
    texts = Counter(line.text.lower() for lines in pages for line in lines)
    kept: list[list[Line]] = []
    goes_on = False
    for lines in pages:
        kept.append(_drop_entries(list(lines), texts, 1 if goes_on else _MIN_CONTENTS_LINES))
        goes_on = bool(lines) and not kept[-1]
    return kept


def _drop_entries(lines: list[Line], texts: Counter[str], least: int) -> list[Line]:
    """The lines of a page without the entries of a table of contents, if there are at `least` so many."""
    marks = [(n, found) for n, line in enumerate(lines) if (found := _LEADER.search(line.text))]
    numbered = [(n, found[1]) for n, found in marks if found[1]]
    if len(numbered) >= least and _is_rising([number for _, number in numbered]):
        first, last = numbered[0][0], numbered[-1][0]
        while last + 1 < len(lines) and _LAST_NUMBER.search(lines[last + 1].text):
            last += 1
        return lines[last + 1 :] if first <= 8 else lines[:first] + lines[last + 1 :]
    bare = [
        (n, found)
        for n, line in enumerate(lines)
        if (found := _LAST_NUMBER.search(line.text)) and texts[line.text[: found.start()].lower().strip()]
    ]
    if len(bare) >= max(least, 0.5 * len(lines)) and _is_rising([f[1] for _, f in bare]):
        return lines[bare[-1][0] + 1 :]
    for n, found in marks:
        line = lines[n]
        text = f"{line.text[: found.start()]} {found[1] or ''}".strip()
        lines[n] = replace(line, text=text, is_row=True)
    return [line for line in lines if line.text]


def _is_rising(numbers: Sequence[str]) -> bool:
    """Whether nearly all page numbers are followed by the same or a higher one; Roman ones count as zero."""
    values = [int(number) if number.isdigit() else 0 for number in numbers]
    steps = [a <= b for a, b in pairwise(values)]
    return sum(steps) >= 0.9 * len(steps)
