"""Dates as pages write them."""

from __future__ import annotations

import pytest

from agent.web.extract.page_dates import ReadingDay, find_date, find_date_in_url, find_month


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("12 November 2026, 09:14", "2026-11-12T09:14"),
        ("Nov 3, 2026 at 5:07 PM", "2026-11-03T17:07"),
        ("2026-10-30 18:04", "2026-10-30T18:04"),
        ("2.4.2026", "2026-04-02"),
        ("13/04/2026", "2026-04-13"),
        ("03/04/2026", None),
        ("3. März 2026", "2026-03-03"),
        ("12 Nov", "2026-11-12"),
        ("Dec 30", "2025-12-30"),
        ("3 days ago", "2026-11-18"),
        ("an hour ago", "2026-11-21"),
        ("vor 2 Wochen", "2026-11-07"),
        ("för 3 dagar sedan", "2026-11-18"),
        ("il y a 2 mois", "2026-09-22"),
        ("yesterday, 10:02", "2026-11-20T10:02"),
        ("Tue Nov 17 16:20:30 PST 2009", "2009-11-17T16:20"),
        ("il 3 maggio 2021", "2021-05-03"),
        ("10 december 2025", "2025-12-10"),
        ("3. kvě 2024", "2024-05-03"),
        ("2024年5月3日", "2024-05-03"),
        ("il y a une heure", "2026-11-21"),
        ("2 giorni fa", "2026-11-19"),
        ("set 12 volumes", None),
        ("version 2.4.12", None),
        ("31 February 2026", None),
        ("for 14 days", None),
        ("Sales up 12 %", None),
        ("", None),
    ],
)
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


@pytest.mark.parametrize(
    ("text", "language", "wanted"),
    [
        ("On 25/04/2026 and 03/04/2026", "en", "2026-04-03"),
        ("On 04/25/2026 and 03/04/2026", "de", "2026-03-04"),
        ("On 03/04/2026", "fr-FR", "2026-04-03"),
        ("On 03/04/2026", "en", None),
        ("On 03/04/2026", "", None),
    ],
)
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
