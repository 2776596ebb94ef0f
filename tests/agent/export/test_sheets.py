"""Tables of facts and pages, read as a spreadsheet and as pandas read them; nothing in them is a formula."""

from __future__ import annotations

import csv
import io

import pandas as pd
import pytest

from agent.export.escaping import escape_csv_cell
from agent.export.sheets import FACT_COLUMNS, PAGE_COLUMNS, render_facts_csv, render_pages_csv
from tests.web.reports import TITLES, report

FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_every_fact_is_a_row_with_its_quote_title_and_place():
    table = rows(render_facts_csv(report()))
    assert tuple(table[0]) == FACT_COLUMNS and len(table) == len(TITLES)
    for n, (row, title) in enumerate(zip(table, TITLES, strict=True), 1):
        assert row["title"] == (f"'{title}" if title.startswith(FORMULAS) else title), (
            "letter for letter, line ends too"
        )
        assert (
            row["quote"] == f"The answer {n} is {n * 7} cows."
            and row["verified"] == "yes"
            and row["cited as"] == str(n)
        )
        assert (
            row["site"] == f"site{n}.example"
            and row["subject"] == "'@cows"
            and row["attribute"] == "'+number"
        )


def test_every_page_is_a_row_those_that_could_not_be_read_too():
    table = rows(render_pages_csv(report()))
    assert tuple(table[0]) == PAGE_COLUMNS and len(table) == len(TITLES) + 1
    assert (
        table[0]["outcome"] == "ok"
        and table[0]["author"] == "Åsa Öberg, B. Lee"
        and table[0]["cited as"] == "1"
    )
    assert int(table[0]["characters"]) > 20
    assert table[-1]["outcome"] == "not_found" and table[-1]["characters"] == ""


@pytest.mark.parametrize("table", [render_facts_csv, render_pages_csv])
def test_no_cell_is_a_formula_however_it_is_split(table):
    text = table(report())
    assert not [value for row in rows(text) for value in row.values() if value.startswith(FORMULAS)]
    read = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)
    assert not [value for column in read for value in read[column] if value.startswith(FORMULAS)]
    semicolons = csv.reader(io.StringIO(text, newline=""), delimiter=";")
    assert not [cell for row in semicolons for cell in row if cell.startswith(FORMULAS)], (
        "a spreadsheet that splits at semicolons"
    )


@pytest.mark.parametrize("text", ["=1", " =1", "\u200b=1", "\ufeff@x", "＝1", "\x00=1", "-1", "\t=1"])
def test_what_hides_a_formula_does_not_help_it(text):
    assert escape_csv_cell(text).startswith("'")
