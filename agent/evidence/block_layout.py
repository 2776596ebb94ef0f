"""The blocks of an answer for every surface: the sentences and cells of each, what is left when sentences
fall, and the numbers that a chart draws."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

from agent.types import Answer, AnswerBlock, Sentence

MAX_CHARTS = 2
MIN_BARS, MAX_BARS, MAX_LINES = 3, 30, 4
"""Rows of a table that a chart shows, and columns where the rows are years."""
Series = dict[str, list[tuple[str, float]]]
"""By the name of a column each row's label with its number."""
_NUMBER = re.compile(r"(?P<sign>[-−]?)(?P<digits>\d{1,3}(?:[ ,\u00a0\u202f]\d{3})+|\d+)(?P<part>\.\d+)?")
_YEAR = re.compile(r"(?:1[0-9]|20)\d\d")


@dataclass(frozen=True)
class BlockLayout:
    """A block with its sentences or items; of a table the cells of each row behind its label (None: nothing
    was found), of a chart its lines or bars by name, each label with its number."""

    block: AnswerBlock
    sentences: list[Sentence] = field(default_factory=list)
    rows: list[list[Sentence | None]] = field(default_factory=list)
    series: Series = field(default_factory=dict)


def lay_out_blocks(answer: Answer) -> list[BlockLayout]:
    """The blocks of an answer in order; what stands in none of them is a paragraph before them."""
    own: dict[str, list[Sentence]] = {block.id: [] for block in answer.blocks}
    loose = [said for said in answer.sentences if said.block not in own]
    laid = [BlockLayout(AnswerBlock(id=""), loose)] if loose else []
    for said in answer.sentences:
        own.get(said.block, []).append(said)
    for block in answer.blocks:
        told, rows = own[block.id], list[list[Sentence | None]]()
        if block.kind == "table":
            cells, columns = {(cell.row, cell.column): cell for cell in told}, range(1, len(block.heads))
            rows = [[cells.get((row, n)) for n in columns] for row in range(len(block.row_labels))]
        series = read_chart(answer, block) if block.kind == "chart" else {}
        laid.append(BlockLayout(block, told, rows, series))
    return laid


def label_passage(answer: Answer, sentence: Sentence) -> str:
    """What stands before a passage: the headings over it, else its page's title."""
    cited = set(sentence.fact_ids)
    titles = [source.title for source in answer.sources if cited.intersection(source.fact_ids)]
    return sentence.heading or next(iter(titles), "")


def write_block_lines(answer: Answer, write: Callable[[Sentence], str]) -> Iterator[str]:
    """An answer's blocks as plain lines; `write` writes a sentence, an empty cell says "not found"."""
    for layout in lay_out_blocks(answer):
        block = layout.block
        if block.kind == "chart":
            continue
        if block.kind == "heading":
            yield f"{'#' * block.level} {block.text}"
        elif block.kind == "table":
            yield from [block.text] if block.text else []
            yield " | ".join(block.heads)
            for label, cells in zip(block.row_labels, layout.rows, strict=True):
                yield " | ".join([label, *(write(cell) if cell else "not found" for cell in cells)])
        elif block.kind == "list":
            labels = [label_passage(answer, said) if block.role else "" for said in layout.sentences]
            for label, said in zip(labels, layout.sentences, strict=True):
                yield f"- {f'{label}: ' if label else ''}{write(said)}"
        elif layout.sentences:
            yield " ".join(map(write, layout.sentences))
        yield from (f"- {line}" if block.kind == "list" else line for line in block.lines)
        yield from [""] if block.kind != "heading" and block.role != "lead" else []


def list_gaps(sentences: Sequence[Sentence]) -> dict[str, list[tuple[int, int]]]:
    """By the id of a table block the places (row, column) of its cells for which nothing was found."""
    cells: dict[str, set[tuple[int, int]]] = {}
    for cell in sentences:
        if cell.column > 0:
            cells.setdefault(cell.block, set()).add((cell.row, cell.column))
    return {
        block: sorted(set(product({row for row, _ in own}, {column for _, column in own})) - own)
        for block, own in cells.items()
    }


def prune_blocks(
    blocks: Sequence[AnswerBlock], sentences: Sequence[Sentence]
) -> tuple[list[AnswerBlock], list[Sentence]]:
    """What is left of the blocks when sentences fell: no empty paragraph, list, table row or column, and no
    heading or chart without what it stands for."""
    kept, moved = list[AnswerBlock](), list(sentences)
    for block in blocks:
        own = [n for n, sentence in enumerate(moved) if sentence.block == block.id]
        if block.kind == "table" and own:  # without rows and columns that hold no cell; its cells move up
            rows = sorted({moved[n].row for n in own})
            columns = sorted({0, *(moved[n].column for n in own)})
            for n in own:
                cell = moved[n]
                moved[n] = cell.replace(row=rows.index(cell.row), column=columns.index(cell.column))
            block = block.replace(
                heads=[block.heads[n] for n in columns if n < len(block.heads)],
                row_labels=[block.row_labels[n] for n in rows if n < len(block.row_labels)],
            )
        if own or block.by_code or block.kind in ("heading", "chart"):
            kept.append(block)
    ids = {block.id for block in kept}
    kept = [block for block in kept if block.kind != "chart" or block.shows in ids]
    headed, level = list[AnswerBlock](), 0
    for block in reversed(kept):  # `level`: of the next block, 9 for one that is no heading
        if block.kind != "heading" or level > block.level:
            headed.append(block)
            level = block.level if block.kind == "heading" else 9
    return headed[::-1], moved


def add_charts(blocks: Sequence[AnswerBlock], sentences: Sequence[Sentence]) -> list[AnswerBlock]:
    """The blocks with a chart below each table that has a column of supported numbers, MAX_CHARTS at most."""
    found, count = list[AnswerBlock](), 0
    for block in blocks:
        found.append(block)
        columns = _find_number_columns(block, sentences) if block.kind == "table" else []
        if columns and count < MAX_CHARTS:
            count += 1
            heads = [block.heads[0], *(block.heads[column] for column in columns)]
            caption = " · ".join(filter(None, (block.text, ", ".join(heads[1:]))))
            chart = AnswerBlock(
                id=f"{block.id}chart", kind="chart", text=caption, heads=heads, shows=block.id
            )
            found.append(chart.replace(part=block.part))
    return found


def _find_number_columns(table: AnswerBlock, sentences: Sequence[Sentence]) -> list[int]:
    """The first column of which every cell is a supported number, and not all are years; where the rows are
    years all such columns of the same unit, MAX_LINES at most."""
    if not MIN_BARS <= len(table.row_labels) <= MAX_BARS:
        return []
    units: dict[int, str] = {}
    for column in range(1, len(table.heads)):
        cells = [s for s in sentences if s.block == table.id and s.column == column]
        is_full = len(cells) == len(table.row_labels)
        if is_full and all(cell.backed and read_number(cell.text) is not None for cell in cells):
            found = {_NUMBER.sub("", cell.text, count=1).strip().casefold() for cell in cells}
            if len(found) == 1 and not all(is_year(cell.text) for cell in cells):
                units[column] = found.pop()
    same = [column for column, unit in units.items() if unit == next(iter(units.values()))]
    return same[:MAX_LINES] if all(map(is_year, table.row_labels)) else same[:1]


def is_year(text: str) -> bool:
    """Whether a text is a year."""
    return bool(_YEAR.fullmatch(text.strip()))


def read_number(text: str) -> float | None:
    """The number of a cell such as "1,240", "−3.5 °C" or "12 %"; None where it holds none or several, or one
    such as "1.240", which is another number in another language."""
    numbers = list(_NUMBER.finditer(text))
    if len(numbers) != 1 or not (numbers[0].start() == 0 or not re.search(r"\w", text[: numbers[0].start()])):
        return None
    found = numbers[0]
    digits = re.sub(r"\D", "", found["digits"])
    if len(found["part"] or "") == 4 and digits != "0" and len(digits) <= 3:
        return None
    value = float(f"{digits}{found['part'] or ''}")
    return -value if found["sign"] else value


def read_chart(answer: Answer, chart: AnswerBlock) -> Series:
    """The lines or bars of a chart; empty when its table is gone."""
    table = next((block for block in answer.blocks if block.id == chart.shows), None)
    series: Series = {}
    if table is None:
        return series
    for head in chart.heads[1:]:
        column = table.heads.index(head, 1) if head in table.heads[1:] else -1
        cells = {s.row: s.text for s in answer.sentences if s.block == table.id and s.column == column}
        numbers = [(label, read_number(cells.get(n, ""))) for n, label in enumerate(table.row_labels)]
        if points := [(label, value) for label, value in numbers if value is not None]:
            series[head] = points
    return series
