"""Two texts side by side: which lines are the same, gone, new or reworded, and in a reworded one which words.
Knows no pages.

The lines are aligned by edit distance in C (rapidfuzz), so that texts of a megabyte take a moment; beyond
MOST lines or words the middle that differs is shown whole, without a finer look."""

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
"""Characters of a line from which it is taken apart into its sentences."""
DiffPiece = tuple[str, bool]
"""Words, and whether the other text lacks them."""


@dataclass(frozen=True)
class DiffPart:
    """A stretch of both texts. `same`: `old` alone holds it; `changed`: the two say it differently; else one
    of them is empty."""

    kind: Literal["same", "removed", "added", "changed"]
    old: Sequence[DiffPiece] = ()
    new: Sequence[DiffPiece] = ()
    lines: int = 1


def diff_texts(old: str, new: str) -> list[DiffPart]:
    """The texts in stretches, in order; lines that are the same and follow each other are one stretch."""
    before, after = _split_lines(old), _split_lines(new)
    head = _common_prefix_length(before, after)
    tail = _common_prefix_length(before[head:][::-1], after[head:][::-1])
    middle = _align_lines(before[head : len(before) - tail], after[head : len(after) - tail])
    return [*_same_part(before[:head]), *middle, *_same_part(before[len(before) - tail :] if tail else [])]


def _split_lines(text: str) -> list[str]:
    """The lines that hold something; a long one by its sentences, so that one changed word does not mark a
    page."""
    lines = [line.strip() for line in text.split("\n")]
    return [
        part
        for line in lines
        if line
        for part in (_SENTENCE_BREAK.split(line) if len(line) > LONG_LINE_CHARS else [line])
    ]


def _common_prefix_length(one: Sequence[str], two: Sequence[str]) -> int:
    """How many lines from the first on are the same."""
    return next(
        (n for n, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two))
    )


def _align_lines(before: Sequence[str], after: Sequence[str]) -> Iterator[DiffPart]:
    if len(before) > MAX_ALIGNED_LINES or len(after) > MAX_ALIGNED_LINES:
        yield from _pair_lines(before, after)
        return
    for code in Levenshtein.opcodes(before, after):
        one, two = before[code.src_start : code.src_end], after[code.dest_start : code.dest_end]
        yield from _same_part(one) if code.tag == "equal" else _pair_lines(one, two)


def _same_part(lines: Sequence[str]) -> list[DiffPart]:
    return [DiffPart("same", [("\n".join(lines), False)], lines=len(lines))] if lines else []


def _pair_lines(before: Sequence[str], after: Sequence[str]) -> Iterator[DiffPart]:
    """Lines that stand in each other's place, one by one; what is left over is gone or new."""
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
