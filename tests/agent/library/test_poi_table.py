"""Places in tables: columns under many names, coordinates in many spellings, broken rows counted."""

from __future__ import annotations

import pytest

from agent.library.poi_table import find_facilities
from agent.types import Outcome, Page, Table
from tests.tables import by_table


def read(*rows: list[str]):
    page = Page(
        url="file:a.csv",
        final_url="file:a.csv",
        outcome=Outcome.OK,
        text="x",
        tables=[Table(start=0, end=1, rows=list(rows))],
    )
    return find_facilities(page, "kb:a.csv")


@by_table
def test_columns_and_coordinates_in_many_spellings(header, row, place):
    found, skipped = read(header, row)
    assert ([(f.latitude, f.longitude) for f in found], skipped) == (
        ([tuple(place)], 0) if place else ([], 0)
    )


@pytest.mark.parametrize(
    "pair",
    [("", "1"), ("1", "x"), ("91", "1"), ("1", "181"), ("nan", "1"), ("0", "0"), ("1e1", "2"), ("1 2", "3")],
)
def test_a_row_without_usable_coordinates_is_left_out_and_counted(pair):
    assert read(["name", "lat", "lon"], ["A", *pair], ["B", "1", "2"])[1] == 1


def test_a_short_row_and_one_without_a_name_are_counted_and_rows_are_numbered():
    found, skipped = read(
        ["kind", "name", "lat", "lon"], ["clinic"], ["clinic", "", "1", "2"], ["clinic", "A", "1", "2"]
    )
    assert skipped == 2 and [(f.name, f.kind, f.row, f.source_id) for f in found] == [
        ("A", "clinic", 3, "kb:a.csv")
    ]


def test_a_table_of_something_else_has_no_places():
    assert read(["name", "price"], ["A", "1"]) == ([], 0) and read() == ([], 0)
    assert read(["name", "position"], ["A", "4, 5"], ["B", "48,137"]) == ([], 2), "a place has decimals"
