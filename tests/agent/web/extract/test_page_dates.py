"""Dates as pages write them."""

from __future__ import annotations

import pytest

from agent.web.extract.page_dates import find_date, find_date_in_url


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
