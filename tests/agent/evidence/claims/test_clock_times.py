"""Times of day in all their spellings."""

import pytest

from agent.evidence.claims.words import find_clock_times

MORNING, EVENING = 6 * 60 + 30, 18 * 60 + 30


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("at 5 pm", [{1020}]),
        ("at 12 a.m.", [{0}]),
        ("at 17:00", [{1020}]),
        ("at 06:30", [{MORNING}]),
        ("at 6:30", [{MORNING, EVENING}]),
        ("10 am to 5 pm", [{600}, {1020}]),
        ("until noon", [{720}]),
        ("um 9 Uhr", [{540, 1260}]),
        ("a ratio of 1.25–3.50", []),
        ("pages 10–17", []),
        ("it cost $3.50", []),
        ("version 2.10.4", []),
    ],
)
def test_times_are_minutes_of_the_day(text: str, minutes: list[set[int]]) -> None:
    assert [set(time.minutes) for time in find_clock_times(text)] == minutes
