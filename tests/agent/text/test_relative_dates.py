"""How far back, counted from Saturday 21 November 2026."""

from __future__ import annotations

import pytest

from agent.text.relative_dates import find_days_back, find_last_day, remove_time_range

TODAY = "2026-11-21"


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
        ("news from today", 1, "news"),
        ("Nachrichten der letzten drei Wochen", 21, "Nachrichten"),
        ("Nachrichten seit März", 265, "Nachrichten"),
        ("Nachrichten von gestern", 1, "Nachrichten"),
        ("nytt från förra veckan", 7, "nytt"),
        ("nytt från 1 maj", 204, "nytt"),
        ("nytt i oktober", 51, "nytt"),
        ("noticias desde marzo de 2026", 265, "noticias"),
    ],
)
def test_a_time_is_counted_in_days_and_taken_out(text: str, back: int, rest: str) -> None:
    assert (find_days_back(text, TODAY), " ".join(remove_time_range(text).split())) == (back, rest)


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
    ],
)
def test_no_time_is_no_time(text: str) -> None:
    assert find_days_back(text, TODAY) is None


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("news between 1 March and 5 May about ice", "2026-05-05"),
        ("news from March to May", "2026-05-31"),
        ("news until 5 May", "2026-05-05"),
        ("what happened in October", "2026-10-31"),
        ("news of September", "2026-09-30"),
        ("what was written in 2025", "2025-12-31"),
        ("news in February 2024", "2024-02-29"),
        ("nytt i oktober", "2026-10-31"),
        ("Nachrichten bis 5. Oktober", "2026-10-05"),
        ("what happened in November", ""),
        ("news since March", ""),
        ("news from last week", ""),
        ("news of the past three weeks", ""),
        ("news since 1 May", ""),
        ("news", ""),
    ],
)
def test_a_time_may_have_a_last_day(text: str, last: str) -> None:
    assert find_last_day(text, TODAY) == last


def test_a_last_day_alone_is_no_first_day() -> None:
    assert find_days_back("news until 5 May", TODAY) is None
    assert " ".join(remove_time_range("news until 5 May about ice").split()) == "news about ice"
