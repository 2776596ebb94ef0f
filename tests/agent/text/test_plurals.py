"""A number of things in a sentence."""

from __future__ import annotations

from agent.text.plurals import format_count


def test_one_thing_and_many():
    assert [format_count(1, "page"), format_count(1200, "page")] == ["1 page", "1,200 pages"]
    assert [format_count(0, "fact"), format_count(2, "entry", "entries"), format_count(3.0, "site")] == [
        "0 facts",
        "2 entries",
        "3 sites",
    ]
