"""A CSV table of questions, in any dialect, read into the rows of a batch: bytes in, rows and remarks out.

The header names the columns; one must be called `question`. These columns are settings of their row:
allowed_domains, blocked_domains, start_urls (several are separated by spaces, commas or semicolons), since,
before (days), dated_only (yes or no), language, flow, instruction, max_steps, max_pages, threshold. Every
other column is kept and returned beside the answer. A row that cannot be asked is kept with the reason. Rows
are numbered as in a spreadsheet: the header is row 1."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter, ValidationError

from agent.actions import validation
from agent.engine.run_settings import settings_for_row
from agent.errors import UsageError
from agent.flows import FLOWS
from agent.text.plurals import format_count
from agent.types import BatchRow, Settings

MOST_ROWS, MOST_BYTES = 1_000, 5_000_000
MAX_CELL_CHARS = 100_000
"""Characters of one cell; the csv module's own limit is global to the process."""
_TOO_LONG = "row {} has a cell of more than {:,} characters"
BATCH_FLOWS = ("research", "site", "collect", "check_text")
"""Flows that reach an answer without a person."""
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}
_NO_SEPARATOR = "\x1f"
"""The separator of a table with one column: a character that no text holds."""
_LIST_SEPARATOR = re.compile(r"[\s,;|]+")


@dataclass
class QuestionSheet:
    """A table as it was understood."""

    rows: list[BatchRow]
    columns: list[str]
    summary: str
    """How it was read: "12 rows, separated by commas, UTF-8"."""
    settings: list[str] = field(default_factory=list)
    """The columns that are settings."""
    remarks: list[str] = field(default_factory=list)
    """Remarks on single rows, by number."""

    @property
    def question_count(self) -> int:
        """The number of different questions that can be asked."""
        return sum(not row.trouble and not row.same_as for row in self.rows)


def read_sheet(data: bytes, settings: Settings) -> QuestionSheet:
    """Read a table and check each row with its settings. Raises UsageError when there is nothing to ask."""
    text, coding = _decode(data)
    separator, cells = _read_table(text)
    head = next(cells, None)
    if head is None:
        raise UsageError("the file is empty: its first line must name the columns, one of them “question”")
    columns, at = _name_columns(head)
    sheet = QuestionSheet(
        [], columns, "", [name for name in columns if _normalize_name(name) in _CELL_PARSERS]
    )
    for n, values in enumerate(cells, 2):
        if not any(value.strip() for value in values):
            continue
        if len(sheet.rows) >= MOST_ROWS:
            raise UsageError(f"the file has more than {MOST_ROWS:,} rows with something in them: split it")
        sheet.rows.append(_build_row(n, values, columns, at, settings))
    _merge_duplicates(sheet)
    separated = f", separated by {SEPARATORS[separator]}" if separator in SEPARATORS else ""
    sheet.summary = f"{format_count(len(sheet.rows), 'row')}{separated}, {coding}"
    return sheet


def _decode(data: bytes) -> tuple[str, str]:
    if len(data) > MOST_BYTES:
        raise UsageError(f"the file has {len(data) / 1e6:.1f} MB; {MOST_BYTES / 1e6:g} MB are the most")
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        coding = "utf-16"
    elif b"\0" in data:
        raise UsageError(
            "this is not a text file: save the table as CSV (in a spreadsheet: “Save as”, “CSV UTF-8”)"
        )
    else:
        coding = "utf-8-sig"
    try:
        return data.decode(coding), "UTF-16" if coding == "utf-16" else "UTF-8"
    except UnicodeDecodeError:
        # Windows uses the control characters of Latin-1 for curly quotes, dashes and the euro
        is_cp1252 = any(0x80 <= byte <= 0x9F for byte in data)
        text = data.decode("cp1252", errors="replace") if is_cp1252 else data.decode("latin-1")
        return text, "Latin-1"


def _read_table(text: str) -> tuple[str, Iterator[list[str]]]:
    """The separator that gives the header a column “question” and most columns, and the rows."""
    lines = text.lstrip("\r\n")
    first = next((line for line in io.StringIO(lines, newline=None) if line.strip()), "")
    headers = {mark: next(csv.reader([first[:MAX_CELL_CHARS]], delimiter=mark), []) for mark in SEPARATORS}
    fitting = [
        mark for mark, names in headers.items() if any(_normalize_name(name) == "question" for name in names)
    ]
    separator = max(fitting, key=lambda mark: len(headers[mark]), default=",")
    if len(headers[separator]) == 1:
        separator = _NO_SEPARATOR
    return separator, _read_records(text, separator)


def _read_records(text: str, separator: str) -> Iterator[list[str]]:
    """The records, empty ones too. Raises UsageError for a quotation mark that is never closed and for a cell
    that is too long."""
    strict, n = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True), 0
    try:
        for _ in strict:
            n += 1
    except csv.Error as trouble:
        if "unexpected end" in str(trouble):
            raise UsageError(f"a quotation mark is opened in row {n + 1} and never closed") from trouble
    records, n = csv.reader(io.StringIO(text, newline=""), delimiter=separator), 0
    try:
        for n, row in enumerate(records, 1):
            if max(map(len, row), default=0) > MAX_CELL_CHARS:
                raise UsageError(_TOO_LONG.format(n, MAX_CELL_CHARS))
            yield row
    except csv.Error as trouble:
        raise UsageError(_TOO_LONG.format(n + 1, MAX_CELL_CHARS)) from trouble


def _name_columns(head: list[str]) -> tuple[list[str], int]:
    """The unique names of the columns, and the index of the question's. Raises UsageError."""
    names: list[str] = []
    for number, cell in enumerate(head, 1):
        name = cell.strip() or f"column {number}"
        names.append(name if name not in names else f"{name} ({number})")
    at = next((i for i, name in enumerate(names) if _normalize_name(name) == "question"), None)
    if at is None:
        shown = ", ".join(name[:40] for name in names[:8])
        raise UsageError(
            f"no column is called “question”: the first line names {shown}. Put the word question above "
            "the questions"
        )
    return names, at


def _normalize_name(name: str) -> str:
    plain = re.sub(r"[\s_-]+", "_", name.strip().casefold())
    return {"questions": "question", "domains": "allowed_domains", "start_url": "start_urls"}.get(
        plain, plain
    )


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
            if (setting := _normalize_name(name)) in _CELL_PARSERS and value.strip():
                row.own[setting] = _CELL_PARSERS[setting](value.strip())
        if not question:
            raise UsageError(f"the cell “{columns[at]}” is empty")
        validation.check_new_run(question, settings_for_row(row, settings), FLOWS)
    except UsageError as trouble:
        return row.replace(trouble=str(trouble), own={})
    return row


def _merge_duplicates(sheet: QuestionSheet) -> None:
    """Add remarks on rows that cannot be asked, and let rows with the same question and settings share one
    run. Raises UsageError when there is nothing to ask."""
    if not sheet.rows:
        raise UsageError("there is no question below the header")
    seen: dict[tuple[str, str], int] = {}
    for i, row in enumerate(sheet.rows):
        if row.trouble:
            sheet.remarks.append(f"Row {row.n} cannot be asked: {row.trouble}.")
            continue
        first = seen.setdefault(
            (" ".join(row.question.casefold().split()), repr(sorted(row.own.items()))), row.n
        )
        if first != row.n:
            sheet.rows[i] = row.replace(same_as=first)
            sheet.remarks.append(
                f"Row {row.n} repeats row {first}: the question is asked once and answered in both."
            )
    if not sheet.question_count:
        raise UsageError(f"no row can be asked. {sheet.remarks[0]}".rstrip("."))


def _parse_bool(text: str) -> bool:
    try:
        return TypeAdapter(bool).validate_python(text)
    except ValidationError:
        raise UsageError(f"“{text[:40]}” is neither yes nor no") from None


def _parse_flow(text: str) -> str:
    if text.casefold() not in BATCH_FLOWS:
        raise UsageError(f"there is no flow “{text[:40]}” for a batch; there are {', '.join(BATCH_FLOWS)}")
    return text.casefold()


def _number_parser(least: float, most: float, kind: type[int] | type[float]) -> Callable[[str], float]:
    def read_number(text: str) -> float:
        try:
            value = kind(text.replace(",", ".")) if kind is float else kind(text)
        except ValueError:
            raise UsageError(f"“{text[:40]}” is not a {'whole ' if kind is int else ''}number") from None
        if not least <= value <= most:
            raise UsageError(f"{text[:40]} is not between {least:g} and {most:g}")
        return value

    return read_number


_CELL_PARSERS: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(
        ("allowed_domains", "blocked_domains", "start_urls"),
        lambda text: list(filter(None, _LIST_SEPARATOR.split(text))),
    ),
    **dict.fromkeys(("since", "before", "language"), lambda text: text[:40]),
    "dated_only": _parse_bool,
    "flow": _parse_flow,
    "instruction": lambda text: text[: validation.MAX_QUESTION_CHARS],
    "max_steps": _number_parser(1, 60, int),
    "max_pages": _number_parser(1, 60, int),
    "threshold": _number_parser(0.5, 1, float),
}
"""The parser of each column that is a setting; it raises UsageError."""
