"""Dates as pages write them."""

from __future__ import annotations

import pytest

from agent.web.extract.page_dates import ReadingDay, find_date, find_date_in_url, find_month
from tests.tables import by_table


@by_table
def test_a_date_in_a_short_text(text: str, wanted: str | None) -> None:
    found = find_date(text, "2026-11-21")
    assert (found.iso if found else None) == wanted


def test_a_day_in_an_address() -> None:
    assert find_date_in_url("https://a.example/2026/11/17/bear") == "2026-11-17"
    assert (
        find_date_in_url("https://a.example/2026/13/17/bear")
        == find_date_in_url("https://a.example/v/2026/11")
        == ""
    )


@by_table
def test_the_order_of_numeric_dates_by_the_page(text: str, language: str, wanted: str | None) -> None:
    found = find_date("03/04/2026", ReadingDay.of_page("2026-11-21", text, language))
    assert (found.iso if found else None) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("Mai 2021", "2021-05"), ("Changes of 2024-05", "2024-05"), ("2024-05-03", None), ("May", None)],
)
def test_a_month_with_its_year(text: str, wanted: str | None) -> None:
    found = find_month(text)
    assert (found.iso if found else None) == wanted
