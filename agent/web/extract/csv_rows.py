"""A CSV file as a table: its delimiter is detected, its first row is the header, each row is a line of
text."""

from __future__ import annotations

import csv
import io

from agent.types import Outcome, Table
from agent.web.extract.extraction import Extraction

DELIMITERS = ",;\t|"
MAX_ROWS = 50_000
MAX_COLUMNS = 200
MAX_CELL_CHARACTERS = 5_000
_MAX_FIELD_CHARACTERS = 10_000_000
"""Characters of one cell in the file; more means a quote that is never closed."""
_BROKEN = (
    "A cell of the table has no end (a quote is opened and not closed?). Open it in a spreadsheet and "
    "save it as CSV again."
)
_SAMPLE = 64 * 1024


def extract_csv(text: str) -> Extraction:
    """The rows as one table and as text: cells joined by " | ", one row a line. Empty rows are left out."""
    try:
        rows, cut = parse_csv(text)
    except csv.Error:
        return Extraction(outcome=Outcome.UNSUPPORTED, detail=_BROKEN)
    if not rows:
        return Extraction(outcome=Outcome.EMPTY, detail="The table has no rows: nothing was added.")
    lines = [" | ".join(row) for row in rows]
    body = "\n".join(lines)
    detail = f"Only the first {MAX_ROWS:,} rows were read." if cut else ""
    return Extraction(text=body, tables=[Table(start=0, end=len(body), rows=rows)], detail=detail)


def parse_csv(text: str) -> tuple[list[list[str]], bool]:
    """The rows, all equally wide, each cell on one line, and whether there are more than MAX_ROWS. Raises
    csv.Error."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff")
    first, _, rest = text.partition("\n")
    if first.lower().startswith("sep=") and len(first) == 5:  # Excel's way to name the delimiter
        return _parse_delimited(rest, first[4])
    return _parse_delimited(text, _detect_delimiter(text[:_SAMPLE]))


def _parse_delimited(text: str, delimiter: str) -> tuple[list[list[str]], bool]:
    csv.field_size_limit(_MAX_FIELD_CHARACTERS)
    rows: list[list[str]] = []
    for row in csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True):
        cells = [" ".join(cell.split())[:MAX_CELL_CHARACTERS] for cell in row[:MAX_COLUMNS]]
        if any(cells):
            if len(rows) > MAX_ROWS:
                return _pad_rows(rows), True
            rows.append(cells)
    return _pad_rows(rows), False


def _pad_rows(rows: list[list[str]]) -> list[list[str]]:
    width = max((len(row) for row in rows), default=0)
    return [row + [""] * (width - len(row)) for row in rows]


def _detect_delimiter(sample: str) -> str:
    """The delimiter that divides the first rows into the same, largest number of cells."""
    best, most = ",", 0.0
    for delimiter in DELIMITERS:
        widths = [len(row) for row in _read_sample_rows(sample, delimiter)][:50]
        if not widths:
            continue
        usual = max(set(widths), key=widths.count)
        score = (usual - 1) * widths.count(usual) / len(widths)
        if score > most:
            best, most = delimiter, score
    return best


def _read_sample_rows(sample: str, delimiter: str) -> list[list[str]]:
    try:
        return [row for row in csv.reader(io.StringIO(sample), delimiter=delimiter) if row]
    except csv.Error:
        return []
