"""How many are asked for, in digits or English words; and numbers that are part of what is asked about."""

from __future__ import annotations

import pytest

from agent.roles.collect import find_requested_count, remove_requested_count


@pytest.mark.parametrize(
    ("text", "number", "rest"),
    [
        ("the 2 latest news from the dairy", 2, "from the dairy"),
        ("three newest threads", 3, ""),
        ("The three newest threads about goats", 3, "about goats"),
        ("the newest three threads on goats", 3, "on goats"),
        ("10 articles about the bridge", 10, "about the bridge"),
        ("ten articles about the bridge", 10, "about the bridge"),
        ("20 most recent headlines", 20, ""),
        ("collect 4 recent forum threads about boards", 4, "collect about boards"),
        ("two or three articles on cheese", 3, "on cheese"),
        ("3-5 articles on cheese", 5, "on cheese"),
        ("news about cheese, at most five", 5, "news about cheese,"),
        ("die 3 neuesten Artikel über Käse", 3, "die über Käse"),
        ("no more than 4 articles about cheese", 4, "about cheese"),
        ("1000 articles about cheese", 1000, "about cheese"),
        ("at least 4 articles about cheese", None, "about cheese"),
        ("höchstens 7 Artikel über Käse", 7, "über Käse"),
        ("de 5 senaste trådarna om ost", 5, "de om ost"),
    ],
)
def test_a_number_that_is_asked_for(text: str, number: int | None, rest: str) -> None:
    assert (find_requested_count(text), " ".join(remove_requested_count(text).split())) == (number, rest)


@pytest.mark.parametrize(
    "text",
    [
        "news about the 3 bridges of Stenfors",
        "error 17 on the C2",
        "the 2026 annual report",
        "the first 100 days of the bridge",
        "sex education",
        "2026 articles",
        "5G masts",
        "nothing",
        "one of them",
    ],
)
def test_a_number_that_is_not(text: str) -> None:
    assert find_requested_count(text) is None
    assert " ".join(remove_requested_count(text).split()) == text
