"""A `<table>` as rows of cells with its spans filled in, or None when it is only layout.

A cell that spans rows is repeated in each of them, so that every row can be read alone; one that spans
columns is followed by empty cells, so that columns stay aligned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from selectolax.lexbor import LexborNode

TABLE_CELL_TAGS = frozenset(("td", "th"))
_ROW_GROUP_TAGS = frozenset(("thead", "tbody", "tfoot"))
_MAX_COLUMNS = 200
_MAX_ROWS = 20_000
MIN_FRAMED_WORDS = 8
"""Words from which a cell beside a short one, alone in their table, is a text and not a value."""
_MIN_PROSE_CHARACTERS = 1_000
"""A longer cell is prose; a table where more than every fifth cell is prose is layout."""


@dataclass
class TableGrid:
    """A table's caption and its rows, in order."""

    caption: str = ""
    rows: list[list[str]] = field(default_factory=list)
    headed: bool = True
    """Whether the first row names the columns."""


def parse_table(node: LexborNode, flat: Callable[[LexborNode], str]) -> TableGrid | None:
    """The table's rows; None when it is one cell wide, holds other tables or mostly prose, frames a text, or
    is declared layout.

    `flat` gives the text under a node on one line."""
    is_declared_layout = node.attributes.get("role") in ("presentation", "none")
    if is_declared_layout or any(child.css_first("table") is not None for child in node.iter()):
        return None
    caption, rows = None, list[LexborNode]()
    for child in node.iter():
        if child.tag == "caption":
            caption = child
        elif child.tag == "tr":
            rows.append(child)
        elif child.tag in _ROW_GROUP_TAGS:
            rows += [row for row in child.iter() if row.tag == "tr"]
    grid = _expand_spans(rows[:_MAX_ROWS], flat)
    filled = [[cell for cell in row if cell] for row in grid]
    # a table only puts a frame around a text ("Note" beside or above it) where no row has two cells with
    # text, or its only row is a short word and a sentence
    if all(len(row) < 2 for row in filled) or (
        [len(row) for row in filled] == [2]
        and len(filled[0][0].split()) < 3
        and len(filled[0][1].split()) >= MIN_FRAMED_WORDS
    ):
        return None
    cells = [cell for row in filled for cell in row]
    if sum(len(cell) > _MIN_PROSE_CHARACTERS for cell in cells) > len(cells) / 5:
        return None
    # False where the first row begins with its own name as a header cell ("Weight", "310 g")
    first = next(row for row in rows if flat(row))
    tags = [node.tag for node in first.iter() if node.tag in TABLE_CELL_TAGS]
    return TableGrid(
        caption=flat(caption) if caption is not None else "",
        rows=grid,
        headed=not (tags[:1] == ["th"] and "td" in tags[1:]),
    )


def _expand_spans(rows: list[LexborNode], flat: Callable[[LexborNode], str]) -> list[list[str]]:
    """The texts of the rows' cells; cells that span rows are repeated, empty ones stand where they span
    columns."""
    hanging: dict[int, tuple[int, str]] = {}
    spread = []
    for row in rows:
        line: list[str] = []
        for node in row.iter():
            if node.tag not in TABLE_CELL_TAGS:
                continue
            text, spans = flat(node), list[int]()
            for value in map(node.attributes.get, ("colspan", "rowspan")):
                is_number = value and value.isdecimal() and len(value) < 7
                spans.append(max(1, min(int(value), _MAX_ROWS)) if value and is_number else 1)
            _fill_hanging_cells(line, hanging)
            for column in range(min(spans[0], _MAX_COLUMNS - len(line))):
                if spans[1] > 1:
                    hanging[len(line)] = (spans[1] - 1, text if column == 0 else "")
                line.append(text if column == 0 else "")
        _fill_hanging_cells(line, hanging)
        if any(line):
            spread.append(line)
    return spread


def _fill_hanging_cells(line: list[str], hanging: dict[int, tuple[int, str]]) -> None:
    while (held := hanging.get(len(line))) and len(line) < _MAX_COLUMNS:
        left, text = held
        if left == 1:
            del hanging[len(line)]
        else:
            hanging[len(line)] = (left - 1, text)
        line.append(text)
