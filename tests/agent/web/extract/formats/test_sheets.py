"""Spreadsheets: a table for each sheet under its name."""

from __future__ import annotations

import pytest

from agent.types import Outcome
from agent.web.extract.formats import sheets
from agent.web.extract.formats.sheets import extract_sheets
from tests.agent.web.extract.sample_documents import make_ods, make_xlsx


@pytest.mark.parametrize("make", [make_ods, make_xlsx])
def test_each_sheet_is_a_table_under_its_name(make) -> None:
    reading = extract_sheets(
        make({"Piers": [["pier", "boats"], ["north", "9 | 10"]], "Empty": [], "Fees": [["fee"], ["4"]]})
    )
    assert reading.outcome is Outcome.OK and [heading.text for heading in reading.headings] == [
        "Piers",
        "Fees",
    ]
    assert [table.rows for table in reading.tables] == [
        [["pier", "boats"], ["north", "9 | 10"]],
        [["fee"], ["4"]],
    ]
    assert [reading.text[table.start : table.end] for table in reading.tables] == [
        "pier | boats\nnorth | 9 | 10",
        "fee\n4",
    ]


def test_numbers_are_written_as_people_write_them() -> None:
    reading = extract_sheets(make_xlsx({"A": [["n"], [12.0], [0.1 + 0.2], [1e21]]}))
    assert reading.tables[0].rows == [["n"], ["12"], ["0.3"], ["1e+21"]]


def test_hidden_sheets_are_left_out_and_told() -> None:
    reading = extract_sheets(make_xlsx({"Open": [["a"]], "Secret": [["b"]]}, hidden="Secret"))
    assert reading.text == "Open\n\na" and "Secret" in reading.detail


def test_a_long_sheet_is_cut_and_told(monkeypatch) -> None:
    monkeypatch.setattr(sheets, "MAX_ROWS", 3)
    reading = extract_sheets(make_xlsx({"A": [[n] for n in range(9)]}))
    assert len(reading.tables[0].rows) == 3 and "first 3 rows" in reading.detail


def test_a_damaged_and_an_empty_sheet_are_told_apart() -> None:
    assert "damaged" in extract_sheets(make_xlsx({"A": [["a"]]})[:400]).detail
    assert "no rows" in extract_sheets(make_xlsx({"A": []})).detail
