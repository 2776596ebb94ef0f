"""What a request excludes: topics, addresses and sites."""

from __future__ import annotations

import pytest

from agent.text.negative_constraints import (
    find_excluded_sites,
    is_excluded,
    is_unwanted,
    keep_topic_constraints,
    remove_exclusion_sentences,
    split_negative_constraints,
)


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


@pytest.mark.parametrize(
    ("note", "forbidden"),
    [
        (
            "Do not use https://a.example/x, and never open https://b.example/y.",
            ["https://a.example/x", "https://b.example/y"],
        ),
        ("Leave out everything from wiki.example.", ["wiki.example"]),
        ("Bitte nicht https://a.example/x verwenden.", ["https://a.example/x"]),
        ("Look at https://a.example/x first.", []),
        ("It is not 1974, I think.", []),
        ("Look at https://a.example/x. Not at b.example.", ["b.example"]),
    ],
)
def test_what_is_forbidden(note, forbidden):
    assert find_excluded_sites([note]) == forbidden


def test_a_host_forbids_its_pages_and_sub_hosts():
    assert is_excluded("https://en.wiki.example/a", ["wiki.example"]) and is_excluded(
        "http://wiki.example/", ["wiki.example"]
    )
    assert not is_excluded("https://otherwiki.example/a", ["wiki.example"]) and not is_excluded(
        "https://a.example/y", ["https://a.example/x"]
    )


def test_what_is_left_of_a_note_is_wanted():
    assert (
        remove_exclusion_sentences("Look at https://a.example/x. Not at b.example.")
        == "Look at https://a.example/x."
    )
    assert remove_exclusion_sentences("Never read b.example") == ""
