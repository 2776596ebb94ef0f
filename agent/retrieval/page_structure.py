"""The structure of a page's text as a tree of pieces: headings, paragraphs, terms with definitions, list
items, code, posts and tables, each with its offsets.

A page that was extracted with its blocks is taken at its word; of another (plain text) headings and list
items are inferred from its lines."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Literal

from agent.text.sentences import LIST_MARK
from agent.types import Block, Heading, Page, Table
from agent.types.web import BlockKind

PieceKind = BlockKind | Literal["heading", "table"]

MAX_HEADING_WORDS, MAX_HEADING_CHARS = 9, 90
"""The most a line may have to be taken for a heading."""
MIN_LIST_LINES = 2
"""A line after this many short lines is an item of a list, not a heading."""
MIN_BODY_WORDS = 8
"""Words the line below a heading must have."""
MAX_DEPTH = 20
"""Blocks inside of blocks that are followed; what is deeper is text of the block around it."""


@dataclass(slots=True)
class Piece:
    """A stretch of a page's text of one kind, with the pieces inside it."""

    kind: PieceKind
    start: int
    end: int
    table: Table | None = None
    level: int = 0
    """The level of a heading."""
    inner: list[Piece] = field(default_factory=list)

    def holds(self, kind: PieceKind) -> bool:
        """Whether a piece of this kind is inside, at any depth."""
        return any(piece.kind == kind or piece.holds(kind) for piece in self.inner)


def build_pieces(page: Page, text: str) -> list[Piece]:
    """The outermost pieces of a page's text in order; together they hold all of it but blanks."""
    blocks = page.blocks or infer_items(text)
    spans = [Piece(block.kind, block.start, block.end) for block in blocks]
    for table in page.tables:  # it starts with its caption, which is the line above it
        start = max(0, len(text[: table.start].rstrip()) - len(table.caption))
        is_captioned = table.caption and text.startswith(table.caption, start)
        spans.append(Piece("table", start if is_captioned else table.start, table.end, table))
    for heading in page.headings:  # one that is not in the text at its place takes no room, and is left out
        end = heading.start + len(heading.text) * text.startswith(heading.text, heading.start)
        spans.append(Piece("heading", heading.start, end, level=heading.level))
    root = Piece("post", 0, len(text))
    above = [root]
    for span in sorted(spans, key=lambda span: (span.start, -span.end, span.kind != "post")):
        if not 0 <= span.start < span.end <= len(text):
            continue
        while span.start >= above[-1].end:
            above.pop()
        is_leaf = above[-1].kind in ("code", "table", "heading") or len(above) > MAX_DEPTH
        if span.end <= above[-1].end and not is_leaf:
            above[-1].inner.append(span)
            above.append(span)
    return _fill_gaps(root, text, by_line=bool(page.blocks))


def infer_headings(page: Page) -> Page:
    """The page with added headings where it marks fewer than two: a short line without a full stop above a
    longer one, and in no block but a paragraph. The text stays as it is."""
    marked = [heading for heading in page.headings if heading.text and heading.text != page.title]
    if len(marked) > 1:
        return page
    found: dict[int, Heading] = {}
    apart = [(block.start, block.end) for block in page.blocks if block.kind != "paragraph"]
    furthest = list(accumulate((end for _, end in apart), max))
    short_lines = 0  # in a row above
    for (start, end), (next_start, next_end) in pairwise(find_lines(page.text, 0, len(page.text))):
        line = page.text[start:end].strip()
        in_list, few = short_lines >= MIN_LIST_LINES, len(line.split()) <= MAX_HEADING_WORDS
        short_lines = short_lines + 1 if few and line != page.title else 0
        before_it = bisect_right(apart, start, key=lambda span: span[0])
        if in_list or not few or (before_it and furthest[before_it - 1] > start):
            continue
        is_plain = line[-1] not in ".!?;:,|" and "|" not in line and line[0].isalnum() and line != page.title
        has_body = len(page.text[next_start:next_end].split()) >= MIN_BODY_WORDS
        if is_plain and has_body and len(line) < MAX_HEADING_CHARS:
            at = page.text.index(line, start)
            found[at] = Heading(start=at, level=2, text=line)
    found |= {heading.start: heading for heading in page.headings}
    return page.replace(headings=[found[start] for start in sorted(found)])


def infer_items(text: str) -> list[Block]:
    """The list items of a text by the marks its lines begin with; a line with a mark alone is none."""
    found: list[Block] = []
    lines = find_lines(text, 0, len(text))
    run: list[Block] = []
    for start, end in lines:
        mark = LIST_MARK.match(text, start, end)
        after_gap = bool(run) and "\n\n" in text[run[-1].end : start]
        if mark:
            run.append(Block("item", start, end))
        elif run and not after_gap and text[start].isspace():
            run[-1].end = end
        else:
            found += run if len(run) > 1 else []
            run = []
    return found + (run if len(run) > 1 else [])


def find_lines(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The spans of the lines of `text[start:end]` that are not empty."""
    return [(start + m.start(), start + m.end()) for m in re.finditer(r"[^\n]*\S[^\n]*", text[start:end])]


def _fill_gaps(piece: Piece, text: str, *, by_line: bool) -> list[Piece]:
    """The pieces inside a piece in order, with what is between them as paragraphs. An item, a term or a
    definition that holds a heading only arranges the page: what is in it takes its place."""
    filled: list[Piece] = []
    at = piece.start
    for child in piece.inner:
        filled += _find_paragraphs(text, at, child.start, by_line=by_line)
        at = child.end
        if child.inner:
            child.inner = _fill_gaps(child, text, by_line=by_line)
        arranges = child.kind in ("item", "term", "definition") and child.holds("heading")
        filled += child.inner if arranges or (child.kind == "paragraph" and child.inner) else [child]
    return filled + _find_paragraphs(text, at, piece.end, by_line=by_line)


def _find_paragraphs(text: str, start: int, end: int, *, by_line: bool) -> list[Piece]:
    """Lines as paragraphs; in a text without blocks, where lines may be wrapped, runs of lines without an
    empty one between them."""
    lines: Sequence[tuple[int, int]] = find_lines(text, start, end)
    if by_line:
        return [Piece("paragraph", left, right) for left, right in lines]
    found: list[Piece] = []
    for left, right in lines:
        if found and text.count("\n", found[-1].end, left) < 2:
            found[-1].end = right
        else:
            found.append(Piece("paragraph", left, right))
    return found
