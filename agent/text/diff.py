"""Diff of two texts: lines that are the same, removed, added or changed, and the changed words of a line.

Lines are aligned by edit distance (rapidfuzz), fast for texts of a megabyte; with more than MAX_ALIGNED_LINES
lines or MAX_ALIGNED_WORDS words all is one change."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from rapidfuzz.distance import Levenshtein

MAX_ALIGNED_LINES = 20_000
"""Lines of one text that are aligned."""
MAX_ALIGNED_WORDS = 3_000
"""Words of one line that are aligned."""
_WORD = re.compile(r"\w+|\s+|[^\w\s]")
_SENTENCE_BREAK = re.compile(r"(?<=[.!?…])\s+(?=\S)")
LONG_LINE_CHARS = 400
"""Characters from which a line is split into its sentences."""
DiffPiece = tuple[str, bool]
"""Words, and whether the other text lacks them."""


@dataclass(frozen=True)
class DiffPart:
    """A part of both texts. `same`: only `old` has it; `changed`: both have theirs; else one is empty."""

    kind: Literal["same", "removed", "added", "changed"]
    old: Sequence[DiffPiece] = ()
    new: Sequence[DiffPiece] = ()
    lines: int = 1


def diff_texts(old: str, new: str) -> list[DiffPart]:
    """The parts of both texts in order; neighbouring lines that are the same are one part."""
    before, after = _split_lines(old), _split_lines(new)
    if max(len(before), len(after)) > MAX_ALIGNED_LINES:
        return list(_pair_lines(before, after))
    found = list[DiffPart]()
    for code in Levenshtein.opcodes(before, after):
        lines, others = before[code.src_start : code.src_end], after[code.dest_start : code.dest_end]
        if code.tag == "equal":
            found.append(DiffPart("same", [("\n".join(lines), False)], lines=len(lines)))
        else:
            found += _pair_lines(lines, others)
    return found


def _split_lines(text: str) -> list[str]:
    """The lines with text; a long one by its sentences, so that one changed word does not mark a page."""
    lines = [line.strip() for line in text.split("\n")]
    return [
        part
        for line in lines
        if line
        for part in (_SENTENCE_BREAK.split(line) if len(line) > LONG_LINE_CHARS else [line])
    ]


def _pair_lines(before: Sequence[str], after: Sequence[str]) -> Iterator[DiffPart]:
    """The lines paired one by one; the rest is removed or added."""
    both = min(len(before), len(after))
    for one, two in zip(before[:both], after[:both], strict=True):
        yield DiffPart("changed", *_diff_words(one, two))
    if before[both:]:
        yield DiffPart("removed", [("\n".join(before[both:]), True)], lines=len(before) - both)
    if after[both:]:
        yield DiffPart("added", [], [("\n".join(after[both:]), True)], lines=len(after) - both)


def _diff_words(one: str, two: str) -> tuple[list[DiffPiece], list[DiffPiece]]:
    """Both lines in pieces, each with whether the other lacks it."""
    before, after = _WORD.findall(one), _WORD.findall(two)
    if len(before) > MAX_ALIGNED_WORDS or len(after) > MAX_ALIGNED_WORDS:
        return [(one, True)], [(two, True)]
    left: list[DiffPiece] = []
    right: list[DiffPiece] = []
    for code in Levenshtein.opcodes(before, after):
        same = code.tag == "equal"
        if gone := "".join(before[code.src_start : code.src_end]):
            left.append((gone, not same))
        if come := "".join(after[code.dest_start : code.dest_end]):
            right.append((come, not same))
    return left, right
