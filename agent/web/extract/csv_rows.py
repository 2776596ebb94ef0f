"""Tables as text: CSV and TSV (the delimiter is detected, the first row is the header, each row is a line of
text), and JSON-lines (a table of their fields, or a section for each record when they hold texts)."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from agent.types import Outcome
from agent.web.extract.extraction import Extraction
from agent.web.extract.formats.writer import DocumentWriter

DELIMITERS = ",;\t|"
MAX_ROWS = 50_000
MAX_COLUMNS = 200
MAX_CELL_CHARACTERS = 5_000
LONG_CELL_CHARACTERS = 300
"""A record with a longer text is no row of a table but a section of its own: it holds sentences."""
_MAX_FIELD_CHARACTERS = 10_000_000
"""Characters of one cell in the file; more means a quote that is never closed."""
_BROKEN = (
    "A cell of the table has no end (a quote is opened and not closed?). Open it in a spreadsheet and "
    "save it as CSV again."
)
_SAMPLE = 64 * 1024


def extract_csv(text: str, delimiter: str = "") -> Extraction:
    """The rows as one table and as text: cells joined by " | ", one row a line. Empty rows are left out.
    `delimiter` is the expected one: it counts where any line holds it."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff")
    first, _, rest = text.partition("\n")
    if first.lower().startswith("sep=") and len(first) == 5:  # Excel's way to name the delimiter
        text, delimiter = rest, first[4]
    elif not delimiter or delimiter not in text[:_SAMPLE]:
        # The delimiter that divides the first rows into the same, largest number of cells
        sample = text[:_SAMPLE]
        best, most = ",", 0.0
        for delimiter in DELIMITERS:
            widths = [len(row) for row in _read_sample_rows(sample, delimiter)][:50]
            if not widths:
                continue
            usual = max(set(widths), key=widths.count)
            score = (usual - 1) * widths.count(usual) / len(widths)
            if score > most:
                best, most = delimiter, score
        delimiter = best
    try:
        return _build_table(*_parse_delimited(text, delimiter))
    except csv.Error:
        return Extraction(outcome=Outcome.UNSUPPORTED, detail=_BROKEN)


def _build_table(rows: list[list[str]], cut: bool) -> Extraction:
    if not rows:
        return Extraction(outcome=Outcome.EMPTY, detail="The table has no rows: nothing was added.")
    writer = DocumentWriter()
    writer.write_table(rows)
    return writer.finish(detail=f"Only the first {MAX_ROWS:,} rows were read." if cut else "")


def extract_json_lines(text: str) -> Extraction:
    """The records, one JSON value a line. Outcome `unsupported`, with the line, when one is no JSON."""
    records: list[dict[str, str]] = []
    for number, line in enumerate(text.replace("\r", "\n").lstrip("\ufeff").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            detail = (
                f"Line {number} is not JSON: every line must hold one JSON value. Correct it, and try again."
            )
            return Extraction(outcome=Outcome.UNSUPPORTED, detail=detail)
        if len(records) == MAX_ROWS:
            return _build_records(records, True)
        fields = value if isinstance(value, dict) else {"value": value}
        records.append({str(name): _format_value(held) for name, held in fields.items()})
    return _build_records(records, False)


def _format_value(value: Any) -> str:
    if isinstance(value, str):
        return value.strip()
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _build_records(records: list[dict[str, str]], cut: bool) -> Extraction:
    if any(
        len(text) > LONG_CELL_CHARACTERS or "\n" in text for record in records for text in record.values()
    ):
        # A section for each record: its first short text is the heading, each field a paragraph
        writer = DocumentWriter()
        for number, record in enumerate(records, start=1):
            short = [v for v in record.values() if v and len(v) <= LONG_CELL_CHARACTERS and "\n" not in v]
            named = record.get("title") or record.get("name") or next(iter(short), "")
            title = named if named in short else f"Record {number}"
            writer.write_heading(title, 2)
            for name, value in record.items():
                if value != title:
                    writer.write_block(f"{name}: {value}" if value in short else value)
        return writer.finish(detail=f"Only the first {MAX_ROWS:,} records were read." if cut else "")
    names = list(dict.fromkeys(name for record in records for name in record))[:MAX_COLUMNS]
    rows = [[" ".join(record.get(name, "").split()) for name in names] for record in records]
    return _build_table([names, *rows] if rows else [], cut)


def _parse_delimited(text: str, delimiter: str) -> tuple[list[list[str]], bool]:
    csv.field_size_limit(_MAX_FIELD_CHARACTERS)
    rows: list[list[str]] = []
    for row in csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True):
        cells = [" ".join(cell.split())[:MAX_CELL_CHARACTERS] for cell in row[:MAX_COLUMNS]]
        if any(cells):
            if len(rows) > MAX_ROWS:
                return rows, True
            rows.append(cells)
    return rows, False


def _read_sample_rows(sample: str, delimiter: str) -> list[list[str]]:
    try:
        return [row for row in csv.reader(io.StringIO(sample), delimiter=delimiter) if row]
    except csv.Error:
        return []
