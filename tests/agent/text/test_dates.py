"""Dates as pages write them; and dates agree when neither excludes the other."""

from __future__ import annotations

import pytest

from agent.text.dates import (
    ReadingDay,
    blank_spans,
    find_date,
    find_date_in_url,
    find_dates,
    find_month,
    is_compatible,
)
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


@by_table
def test_every_format_agrees_with_the_day_it_means(text: str) -> None:
    found = find_dates(text)
    assert len(found) == 1
    assert is_compatible(found[0], find_dates("3 May 1987")[0]) and is_compatible(
        find_dates("3 May 1987")[0], found[0]
    )


@pytest.mark.parametrize(
    "text",
    ["4 May 1987", "June 1987", "in 1988.", "the 1990s", "19th century", "4 May", "3.6.1987", "450 BC"],
)
def test_another_day_does_not(text: str) -> None:
    assert not is_compatible(find_dates(text)[0], find_dates("3 May 1987")[0])


def test_a_date_with_slashes_has_two_readings() -> None:
    assert is_compatible(find_dates("03/05/1987")[0], find_dates("5 March 1987")[0]) and not is_compatible(
        find_dates("03/05/1987")[0], find_dates("5 April 1987")[0]
    )


def test_other_languages() -> None:
    assert is_compatible(find_dates("3. Mai 1987")[0], find_dates("3 de mayo de 1987")[0])


def test_a_range_gives_both_ends() -> None:
    assert [d.text for d in find_dates("(1939–1945)")] == ["1939", "1945"]
    assert [d.spans for d in find_dates("the 2014–15 season")] == [
        find_dates("in 2014.")[0].spans,
        find_dates("in 2015.")[0].spans,
    ]


@pytest.mark.parametrize("text", ["1200 metres", "12,500", "$1987", "1987 km", "room 12", "v1.1987"])
def test_a_count_is_no_year(text: str) -> None:
    assert find_dates(text) == []


def test_blanked_keeps_the_offsets() -> None:
    text = "On 3 May 1987 it sold 12 cheeses"
    assert blank_spans(text, find_dates(text)) == "On            it sold 12 cheeses"


@by_table
def test_a_year_after_an_article_is_one_unless_a_unit_follows(text: str, years: list[str]) -> None:
    assert [date.text for date in find_dates(text)] == years


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1200 people live there", []),
        ("about 1200 metres", []),
        ("2000 inhabitants", []),
        ("a 1928 silent film", ["1928"]),
        ("In 1921 herons came", ["1921"]),
        ("opened 1921 by two sisters", ["1921"]),
    ],
)
def test_a_number_before_what_it_counts_is_no_year(text: str, wanted: list[str]) -> None:
    assert [text[found.start : found.end] for found in find_dates(text)] == wanted
