"""What a collecting prompt asks for, read by rule."""

from __future__ import annotations

import pytest

from agent.roles.collect import intent_fallback as fallback

TODAY = "2026-11-21"


def told(prompt: str, *notes: str) -> tuple[str, str, int | None, int | None]:
    reply = fallback(prompt=prompt, notes=list(notes), today=TODAY, max_articles=10)
    return reply.topic, reply.target_section, reply.time_range_days, reply.max_articles


@pytest.mark.parametrize(
    ("prompt", "wanted"),
    [
        (
            "Go to the forum page from the forum section and find out what people are saying about Marico "
            "in the last month",
            ("Marico", "forum", 30, None),
        ),
        ("Summarize Marico news from last week", ("Marico", "news", 7, None)),
        ("Summarize this article", ("", "", None, None)),
        ("What do members think about Kallsteg Instruments?", ("Kallsteg Instruments", "forum", None, None)),
        (
            "Collect the top 3 articles about the Stenfors bridge since 2026-11-01",
            ("Stenfors bridge", "news", 20, 3),
        ),
        ("Collect the reviews of the C2 from the past two weeks", ("C2", "reviews", 14, None)),
        ("news about cheese this year, at most five", ("cheese", "news", 324, 5)),
        ("Everything on https://a.example/blog about goats", ("goats", "", None, None)),
        ("", ("", "", None, None)),
        ("Get the 2 latest news from https://a.example/news/", ("", "news", None, 2)),
        ("What are members saying about Kallsteg?", ("Kallsteg", "forum", None, None)),
        ("three newest threads", ("", "forum", None, 3)),
        ("The three newest threads about goat milk since March", ("goat milk", "forum", 265, 3)),
        ("10 articles about the Stenfors bridge", ("Stenfors bridge", "news", None, 10)),
        ("at least 4 articles about cheese", ("cheese", "news", None, None)),
        ("collect 4 recent forum threads about spruce boards", ("spruce boards", "forum", None, 4)),
        ("news about the 3 bridges of Stenfors", ("3 bridges of Stenfors", "news", None, None)),
        (
            "What was said in the communities and forums about Kallsteg last week?",
            ("Kallsteg", "forum", 7, None),
        ),
        ("news about the community of Stenfors", ("community of Stenfors", "news", None, None)),
        ("the five latest blog posts about goats", ("goats", "blog", None, 5)),
        ("Collect what is new in the investor relations section", ("", "investor relations", None, None)),
        ("Summarize these articles", ("", "", None, None)),
        ("Die 3 neuesten Artikel über Kallsteg", ("Kallsteg", "news", None, 3)),
        ("Nachrichten über Kallsteg aus den letzten zwei Wochen", ("Kallsteg", "news", 14, None)),
        ("Samla de 5 senaste trådarna om getmjölk", ("getmjölk", "forum", None, 5)),
        ("senaste nytt om Kallsteg från förra veckan", ("Kallsteg", "news", 7, None)),
        ("Les 3 dernières nouvelles sur Kallsteg", ("Kallsteg", "news", None, 3)),
    ],
)
def test_topic_section_time_and_number(prompt: str, wanted: tuple[str, str, int | None, int | None]) -> None:
    assert told(prompt) == wanted


def test_a_later_note_corrects_the_prompt() -> None:
    assert told("Summarize the news from last week", "Take the last 3 months", "only two articles")[2:] == (
        90,
        2,
    )


def test_only_is_a_number_with_a_number_alone() -> None:
    assert told("Only a forum, please, about goats")[3] is None


def test_a_note_may_name_another_topic() -> None:
    assert told("What do members say about Kallsteg?", "Only what is about the debt, please")[0] == "debt"
    assert told("What do members say about Kallsteg?", "Take more pages")[0] == "Kallsteg"


def test_what_is_not_wanted_is_no_topic() -> None:
    prompt = "Collect news about Kallsteg, not from https://b.example/; leave out articles about dividends"
    reply = fallback(prompt=prompt, notes=["No press releases"], today=TODAY, max_articles=10)
    assert (reply.topic, reply.target_section) == ("Kallsteg", "news")
    assert reply.leave_out == ["leave out articles about dividends", "No press releases"], (
        "an address that is ruled out needs no reader"
    )


@pytest.mark.parametrize(
    ("prompt", "author", "newest", "topic", "count"),
    [
        ("last 5 messages by Carl Worth", "Carl Worth", True, "", 5),
        ("messages by Ada Quill about ferries", "Ada Quill", False, "ferries", None),
        ("die 3 neuesten Artikel von Ada Quill", "Ada Quill", True, "", 3),
        ("news by the sea", "", False, "sea", None),
        ("releases of 2022", "", False, "", None),
        ("security fixes in 2024", "", False, "security fixes", None),
    ],
)
def test_writer_and_newest(prompt: str, author: str, newest: bool, topic: str, count: int | None) -> None:
    reply = fallback(prompt=prompt, notes=[], today=TODAY, max_articles=10)
    assert (reply.author, reply.newest, reply.topic, reply.max_articles) == (author, newest, topic, count)


def test_a_time_with_an_end_is_read_once() -> None:
    reply = fallback(
        prompt="news between May and July 2026 about ice", notes=[], today=TODAY, max_articles=10
    )
    assert (reply.time_range_days, reply.until, reply.topic) == (204, "2026-07-31", "ice")
    later = fallback(prompt="news about ice", notes=["until 5 May only"], today=TODAY, max_articles=10)
    assert (later.time_range_days, later.until) == (None, "2026-05-05")
