"""The time a request asks for, counted from Saturday 21 November 2026."""

from __future__ import annotations

from datetime import date

import pytest

from agent.text.time_range import find_time_range

TODAY = "2026-11-21"
_DAY = date.fromisoformat(TODAY)


@pytest.mark.parametrize(
    ("text", "back", "rest"),
    [
        ("news from last week", 7, "news"),
        ("last week's news", 7, "news"),
        ("news of the past three weeks", 21, "news"),
        ("news of the last 24 hours", 1, "news"),
        ("articles no older than 2 weeks", 14, "articles"),
        ("news since March", 265, "news"),
        ("news since March 2025", 630, "news"),
        ("news since 1 March 2026", 265, "news"),
        ("news since March 1st, 2026", 265, "news"),
        ("news since last March", 265, "news"),
        ("news since December", 355, "news"),
        ("news since 2024", 1055, "news"),
        ("news since the beginning of October", 51, "news"),
        ("news since 2026-11-01", 20, "news"),
        ("news since yesterday", 1, "news"),
        ("news since Monday", 5, "news"),
        ("news from October 2026 about ice", 51, "news about ice"),
        ("news between 1 March and 5 May about ice", 265, "news about ice"),
        ("what happened in November", 20, "what happened"),
        ("goats from 2026", 324, "goats"),
        ("this month's news", 20, "news"),
        ("news from today", 0, "news"),
        ("Nachrichten der letzten drei Wochen", 21, "Nachrichten"),
        ("Nachrichten seit März", 265, "Nachrichten"),
        ("Nachrichten von gestern", 1, "Nachrichten"),
        ("nytt från förra veckan", 7, "nytt"),
        ("nytt från 1 maj", 204, "nytt"),
        ("nytt i oktober", 51, "nytt"),
        ("noticias desde marzo de 2026", 265, "noticias"),
    ],
)
def test_a_beginning_is_counted_from_today_and_taken_out(text: str, back: int, rest: str) -> None:
    found = find_time_range(text, TODAY)
    assert found and found.first
    assert ((_DAY - found.first).days, " ".join(found.rest.split())) == (back, rest)


@pytest.mark.parametrize(
    "text",
    [
        "news",
        "the weekly news",
        "may it rain",
        "the book of April Lindqvist",
        "the last bridge",
        "2026 report",
        "since when?",
        "since 31 February",
        "last 5 messages by Mara",
        "version 3.11 of the compiler",
    ],
)
def test_no_time_is_no_time(text: str) -> None:
    assert find_time_range(text, TODAY) is None


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("news between 1 March and 5 May about ice", "2026-03-01", "2026-05-05"),
        ("news from March to May", "2026-03-01", "2026-05-31"),
        ("what happened in October", "2026-10-01", "2026-10-31"),
        ("news of September", "2026-09-01", "2026-09-30"),
        ("what was written in 2025", "2025-01-01", "2025-12-31"),
        ("news in February 2024", "2024-02-01", "2024-02-29"),
        ("nytt i oktober", "2026-10-01", "2026-10-31"),
        ("releases of 2022", "2022-01-01", "2022-12-31"),
        ("messages between 20 and 25 November 2009", "2009-11-20", "2009-11-25"),
        ("messages from 20-25 November 2009", "2009-11-20", "2009-11-25"),
        ("changes between May and July 2022", "2022-05-01", "2022-07-31"),
        ("articles between December and February", "2025-12-01", "2026-02-28"),
        ("Meldungen von Mai bis Juli 2026", "2026-05-01", "2026-07-31"),
        ("noticias entre mayo y julio de 2025", "2025-05-01", "2025-07-31"),
        ("entre mai et juillet 2024", "2024-05-01", "2024-07-31"),
        ("artiklar mellan maj och juli 2025", "2025-05-01", "2025-07-31"),
        ("releases in 2021 and 2022", "2021-01-01", "2022-12-31"),
        ("reports during 2019-2020", "2019-01-01", "2020-12-31"),
        ("Berichte im Jahr 2023", "2023-01-01", "2023-12-31"),
        ("posts in the first quarter of 2024", "2024-01-01", "2024-03-31"),
        ("news between 2024-05-01 and 2024-06-01", "2024-05-01", "2024-06-01"),
        ("news since 2024-03-01 until 2024-06-30", "2024-03-01", "2024-06-30"),
        ("nyheter från 2024", "2024-01-01", "2024-12-31"),
        ("news until 5 May", "", "2026-05-05"),
        ("news until the end of June", "", "2026-06-30"),
        ("Nachrichten bis 5. Oktober", "", "2026-10-05"),
        ("articles jusqu'à mars 2025", "", "2025-03-31"),
        ("posts before 2020", "", "2019-12-31"),
        ("posts after 2020", "2021-01-01", ""),
        ("what happened in November", "2026-11-01", ""),
        ("news since March", "2026-03-01", ""),
        ("news since 1 May", "2026-05-01", ""),
        ("news from March 2025 onwards", "2025-03-01", ""),
    ],
)
def test_a_time_may_have_a_beginning_and_an_end(text: str, first: str, last: str) -> None:
    found = find_time_range(text, TODAY)
    assert found
    assert (str(found.first or ""), str(found.last or "")) == (first, last)


def test_a_day_that_no_month_has_begins_no_range() -> None:
    for text in ("news in 0 and 3 February 2024", "news between 32 and 3 February 2024"):
        found = find_time_range(text, TODAY)
        assert found and found.first == found.last == date(2024, 2, 3)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("news from 28 to 3 May", "2026-04-28", "2026-05-03"),
        ("news from 5 to 3 May", "2026-04-05", "2026-05-03"),
        ("news between 31 and 3 April 2024", "2024-03-31", "2024-04-03"),
        ("Nachrichten vom 5. bis 9. Mai", "2026-05-05", "2026-05-09"),
        ("news from 2024 to 2022", "2022-01-01", "2024-12-31"),
        ("news between 5 May 2024 and 3 March 2024", "2024-03-03", "2024-05-05"),
    ],
)
def test_a_range_that_runs_backwards_is_read_forwards(text: str, first: str, last: str) -> None:
    """A day alone is one of the month before; two full dates change places."""
    found = find_time_range(text, TODAY)
    assert found and (str(found.first), str(found.last)) == (first, last)


def test_the_words_of_an_end_are_taken_out() -> None:
    found = find_time_range("news until 5 May about ice", TODAY)
    assert found and " ".join(found.rest.split()) == "news about ice"
