"""What a collecting prompt asks for, read by rule."""

from __future__ import annotations

import pytest

from agent.roles.intent import keyless

TODAY = "2026-11-21"


def told(prompt: str, *notes: str) -> tuple[str, str, int | None, int | None]:
    reply = keyless(prompt=prompt, notes=list(notes), today=TODAY, max_articles=10)
    return reply.topic, reply.target_section, reply.time_range_days, reply.max_articles


@pytest.mark.parametrize(
    ("prompt", "wanted"),
    [
        (
            "Go to the forum page from the forum section and find out what people are saying about Marico in the last month",
            ("Marico", "forum", 30, None),
        ),
        ("Summarize Marico news from last week", ("Marico", "news", 7, None)),
        ("Summarize this article", ("", "", None, None)),
        ("What do members think about Kallsteg Instruments?", ("Kallsteg Instruments", "forum", None, None)),
        ("Collect the top 3 articles about the Stenfors bridge since 2026-11-01", ("Stenfors bridge", "news", 20, 3)),
        ("Collect the reviews of the C2 from the past two weeks", ("C2", "reviews", 14, None)),
        ("news about cheese this year, at most five", ("cheese", "news", 324, 5)),
        ("Everything on https://a.example/blog about goats", ("goats", "", None, None)),
        ("", ("", "", None, None)),
    ],
)
def test_topic_section_time_and_number(prompt: str, wanted: tuple[str, str, int | None, int | None]) -> None:
    assert told(prompt) == wanted


def test_a_later_note_corrects_the_prompt() -> None:
    assert told("Summarize the news from last week", "Take the last 3 months", "only two articles")[2:] == (90, 2)


def test_only_is_a_number_with_a_number_alone() -> None:
    assert told("Only a forum, please, about goats")[3] is None


def test_a_note_may_name_another_topic() -> None:
    assert told("What do members say about Kallsteg?", "Only what is about the debt, please")[0] == "debt"
    assert told("What do members say about Kallsteg?", "Take more pages")[0] == "Kallsteg"
