"""A CSV table of questions, in any dialect, read into the rows of a batch: bytes in, rows and remarks out.

The header names the columns; one must be called `question`. Those of SETTING_COLUMNS are settings of their
row (lists are separated by spaces, commas or semicolons); every other column is kept and returned beside the
answer. A row that cannot be asked is kept with the reason. Rows are numbered as in a spreadsheet: the header
is row 1."""

from __future__ import annotations

import codecs
import csv
import io
import re
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from agent.actions import validation
from agent.engine.run_settings import settings_for_row
from agent.errors import UsageError, describe_faults
from agent.text.plurals import clip, format_count
from agent.types import BatchRow, Settings

MOST_ROWS, MOST_BYTES = 1_000, 5_000_000
BATCH_FLOWS = ("research", "site", "collect", "check_text")
"""Flows that reach an answer without a person."""
LIST_COLUMNS = ("allowed_domains", "blocked_domains", "start_urls")
SETTING_COLUMNS = (
    *LIST_COLUMNS,
    *"since before dated_only language flow instruction max_steps max_pages threshold".split(),
)
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}


@dataclass
class QuestionSheet:
    """A table as it was understood."""

    rows: list[BatchRow]
    columns: list[str]
    summary: str
    """How it was read: "12 rows, separated by commas, UTF-8"."""
    settings: list[str]
    """The columns that are settings."""
    remarks: list[str]
    """Remarks on single rows, by number."""

    @property
    def question_count(self) -> int:
        """The number of different questions that can be asked."""
        return sum(not row.trouble and not row.same_as for row in self.rows)


def read_sheet(data: bytes, settings: Settings) -> QuestionSheet:
    """Read a table and check each row with its settings. Raises UsageError when there is nothing to ask."""
    text, coding = _decode(data)
    separator, (head, *records) = _read_table(text)
    columns = list[str]()
    for number, cell in enumerate(head, 1):
        name = cell.strip() or f"column {number}"
        columns.append(name if name not in columns else f"{name} ({number})")
    normalized = list(map(_normalize_name, columns))
    if "question" not in normalized:
        raise UsageError(
            f"no column is called “question”: the first line names {clip(', '.join(columns))}. Put the word "
            "question above the questions"
        )
    at = normalized.index("question")
    filled = [(n, cells) for n, cells in enumerate(records, 1) if any(map(str.strip, cells))]
    if not filled:
        raise UsageError("there is no question below the header")
    if len(filled) > MOST_ROWS:
        raise UsageError(f"the file has more than {MOST_ROWS:,} rows with something in them: split it")
    rows, remarks, seen = list[BatchRow](), list[str](), dict[tuple[str, str], int]()
    for n, cells in filled:
        row = _build_row(n, cells, columns, at, settings)
        asked = " ".join(row.question.casefold().split()), repr(sorted(row.own.items()))
        if row.trouble:
            remarks.append(f"Row {n} cannot be asked: {row.trouble}.")
        elif (first := seen.setdefault(asked, n)) != n:
            row = row.replace(same_as=first)
            remarks.append(f"Row {n} repeats row {first}: the question is asked once and answered in both.")
        rows.append(row)
    if not seen:
        raise UsageError(f"no row can be asked. {remarks[0]}".rstrip("."))
    separated = f", separated by {SEPARATORS[separator]}" if separator in SEPARATORS else ""
    summary = f"{format_count(len(rows), 'row')}{separated}, {coding}"
    own = [name for name in columns if _normalize_name(name) in SETTING_COLUMNS]
    return QuestionSheet(rows, columns, summary, own, remarks)


def _decode(data: bytes) -> tuple[str, str]:
    if len(data) > MOST_BYTES:
        raise UsageError(f"the file has {len(data) / 1e6:.1f} MB; {MOST_BYTES / 1e6:g} MB are the most")
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", errors="replace"), "UTF-16"
    if b"\0" in data:
        raise UsageError(
            "this is not a text file: save the table as CSV (in a spreadsheet: “Save as”, “CSV UTF-8”)"
        )
    try:
        return data.decode("utf-8-sig"), "UTF-8"
    except UnicodeDecodeError:  # Windows' own, in which Latin-1 reads the same
        return data.decode("cp1252", errors="replace"), "Latin-1"


def _read_table(text: str) -> tuple[str, list[list[str]]]:
    """The separator that gives the header a column “question” and most columns, and the records, empty ones
    too. Raises UsageError."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    heads = {
        mark: [_normalize_name(cell.strip().strip('"')) for cell in first.split(mark)] for mark in SEPARATORS
    }
    separator = max((mark for mark in heads if "question" in heads[mark]), key=first.count, default=",")
    separator = separator if separator in first else "\x1f"  # which no text holds
    records: list[list[str]] = []
    for strict in (True, False):  # only a strict reader tells a quotation mark that is never closed
        reader, records = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=strict), []
        try:
            records.extend(reader)
        except csv.Error as trouble:
            if strict and "unexpected end" in str(trouble):
                row = len(records)
                raise UsageError(f"a quotation mark is opened in row {row} and never closed") from trouble
            if not strict:
                raise UsageError(f"line {reader.line_num} cannot be read: {trouble}") from trouble
    if not records:
        raise UsageError("the file is empty: its first line must name the columns, one of them “question”")
    return separator, records


def _normalize_name(name: str) -> str:
    plain = re.sub(r"[\s_-]+", "_", name.strip().casefold())
    also = {"questions": "question", "domains": "allowed_domains", "start_url": "start_urls"}
    return also.get(plain, plain)


def _build_row(n: int, values: list[str], columns: list[str], at: int, settings: Settings) -> BatchRow:
    cells = dict(zip(columns, [*values, *[""] * (len(columns) - len(values))], strict=False))
    question = cells.pop(columns[at]).strip()
    row = BatchRow(n=n, question=question, given=cells)
    try:
        if any(extra.strip() for extra in values[len(columns) :]):
            raise UsageError(
                f"it has {len(values)} cells and the header {len(columns)}: put a text with separators "
                "between quotation marks"
            )
        for name, value in cells.items():
            if (setting := _normalize_name(name)) in SETTING_COLUMNS and value.strip():
                row.own[setting] = _read_cell(setting, value.strip())
        if not question:
            raise UsageError(f"the cell “{columns[at]}” is empty")
        validation.check_new_run(question, settings_for_row(row, settings))
    except UsageError as trouble:
        return row.replace(trouble=str(trouble), own={})
    return row


def _read_cell(name: str, text: str) -> Any:
    """The value of a setting. Raises UsageError."""
    if name in LIST_COLUMNS:
        return re.split(r"[\s,;|]+", text)
    kind: Any = Settings.model_fields[name].annotation
    if name == "flow":
        kind, text = Literal[BATCH_FLOWS], text.casefold()
    if name == "threshold":
        text = text.replace(",", ".")
    try:
        return TypeAdapter(kind).validate_python(text)
    except ValidationError as wrong:
        raise UsageError(f"“{clip(text)}” cannot be {name}: {describe_faults(wrong)}") from None
