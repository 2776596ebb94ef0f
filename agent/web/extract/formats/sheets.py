"""A spreadsheet (XLSX, XLSB, XLS, ODS): a table under the name of each sheet that is not hidden."""

from __future__ import annotations

import io
import zipfile
from datetime import date, datetime, time, timedelta

import python_calamine
from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook

from agent.types import Outcome
from agent.web.extract.extraction import MAX_COLUMNS, MAX_ROWS, Extraction
from agent.web.extract.formats import archive
from agent.web.extract.plain_text import MAX_CELL_CHARACTERS
from agent.web.extract.writer import DocumentWriter

KIND = archive.ArchiveKind("spreadsheet", max_xml=200_000_000, max_ratio=400, max_tags=20_000_000)
"""Cells cost the parser (Rust, no entities) little, and repeat each other a great deal."""
_Cell = int | float | str | bool | time | date | datetime | timedelta


def extract_sheets(data: bytes) -> Extraction:
    """The sheets' cells as text. Outcome `unsupported` or `too_large`, with advice."""
    try:
        if data.startswith(b"PK"):
            with zipfile.ZipFile(io.BytesIO(data)) as packed:
                if refusal := archive.find_refusal(packed, KIND):
                    return refusal
        with CalamineWorkbook.from_filelike(io.BytesIO(data)) as workbook:
            writer = DocumentWriter()
            left, details = MAX_ROWS, []
            for about in workbook.sheets_metadata:
                if about.typ != python_calamine.SheetTypeEnum.WorkSheet:
                    continue
                if about.visible != python_calamine.SheetVisibleEnum.Visible:
                    details.append(f"The hidden sheet {about.name!r} was not read.")
                    continue
                rows, is_cut = _read_rows(workbook.get_sheet_by_name(about.name), left)
                left -= len(rows)
                if rows:
                    writer.write_heading(about.name, 2)
                    writer.write_table(rows, caption=about.name)
                if is_cut:
                    details.append(f"Only the first {MAX_ROWS:,} rows were read.")
                    break
            if not writer.length:
                return Extraction(
                    outcome=Outcome.EMPTY, detail="The spreadsheet has no rows: nothing was added."
                )
            return writer.finish(detail=" ".join(details))
    except python_calamine.PasswordError:
        return KIND.refuse("locked")
    except (CalamineError, *archive.PARSER_ERRORS):
        return KIND.refuse("broken")


def _read_rows(sheet: CalamineSheet, most: int) -> tuple[list[list[str]], bool]:
    """The rows that hold anything, `most` at most, and whether there are more."""
    rows: list[list[str]] = []
    for row in sheet.to_python(skip_empty_area=True):
        cells = [_format_cell(cell) for cell in row[:MAX_COLUMNS]]
        if any(cells):
            if len(rows) >= most:
                return rows, True
            rows.append(cells)
    return rows, False


def _format_cell(cell: _Cell) -> str:
    """The cell as a person would write it: whole numbers without a point, days without a time of day."""
    if isinstance(cell, str):
        return cell.strip()[:MAX_CELL_CHARACTERS]
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float):
        return f"{cell:.15g}"
    if isinstance(cell, datetime):
        is_day = not (cell.hour or cell.minute or cell.second or cell.microsecond)
        return f"{cell:%Y-%m-%d}" if is_day else cell.isoformat(" ", "seconds")
    return str(cell)
