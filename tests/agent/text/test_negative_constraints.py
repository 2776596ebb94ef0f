"""What is not wanted, told apart from what is."""

from __future__ import annotations

import pytest

from agent.text.negative_constraints import is_unwanted, keep_topic_constraints, split_negative_constraints


@pytest.mark.parametrize(
    ("text", "wanted", "refused"),
    [
        (
            "News of Kallsteg, not from https://b.example/x/",
            "News of Kallsteg",
            ["not from https://b.example/x/"],
        ),
        (
            "News from https://a.example/, but not from b.example",
            "News from https://a.example/",
            ["not from b.example"],
        ),
        (
            "What people say; leave out threads of quietmoney",
            "What people say;",
            ["leave out threads of quietmoney"],
        ),
        (
            "Sum it up. Leave out threads about dividends, please.",
            "Sum it up.",
            ["Leave out threads about dividends, please"],
        ),
        ("Leave out dividends but take the debt", "but take the debt", ["Leave out dividends"]),
        ("All news except sports and summarize them", "All news and summarize them", ["except sports"]),
        (
            "News, not from b.example and without sports, and sum it up",
            "News and sum it up",
            ["not from b.example", "without sports"],
        ),
        ("No press releases. News of Kallsteg.", "News of Kallsteg.", ["No press releases"]),
        ("News, without opinion pieces", "News", ["without opinion pieces"]),
        ("Nyheter om ost, inte från b.example", "Nyheter om ost", ["inte från b.example"]),
        ("Nachrichten über Käse, nicht von b.example", "Nachrichten über Käse", ["nicht von b.example"]),
    ],
)
def test_a_refusal_goes_to_the_end_of_its_clause(text: str, wanted: str, refused: list[str]) -> None:
    assert split_negative_constraints(text) == (wanted, refused)


@pytest.mark.parametrize(
    "text",
    [
        "Cheese without rennet",
        "What do members not like about it?",
        "Why is there no bridge?",
        "Threads nobody answered",
        "",
    ],
)
def test_a_no_inside_a_wish_is_none(text: str) -> None:
    assert split_negative_constraints(text) == (text, [])


def test_what_names_an_address_needs_no_reader() -> None:
    assert keep_topic_constraints(["not from b.example", "leave out threads about dividends"]) == [
        "leave out threads about dividends"
    ]


def test_a_refusal_covers_what_all_its_words_stand_in() -> None:
    assert is_unwanted("leave out threads about dividends", "Dividend next spring")
    assert is_unwanted("not by quietmoney", "A title", "quietmoney")
    assert not is_unwanted("leave out threads about the new factory", "Dividend next spring")
    assert not is_unwanted("leave out all articles", "All articles")


def test_blanks_in_a_wish_are_walked_once() -> None:
    for blank in " \t\n":
        wanted, refused = split_negative_constraints(f"Cheese news,{blank * 300_000}not from a.example")
        assert wanted.startswith("Cheese news") and refused == ["not from a.example"]
