"""A number of things in a sentence."""

from __future__ import annotations

from agent.text.plurals import format_changes, format_count


def test_one_thing_and_many():
    assert [format_count(1, "page"), format_count(1200, "page")] == ["1 page", "1,200 pages"]
    assert [format_count(0, "fact"), format_count(2, "entry", "entries"), format_count(3.0, "site")] == [
        "0 facts",
        "2 entries",
        "3 sites",
    ]


def test_changes_of_a_share_are_differences_of_the_percentages_shown():
    assert format_changes(0.616, [0.002]) == ["+1 point"], "61 % became 62 %"
    assert format_changes(0.6, [0.64, -0.012, -0.028]) == ["+64 points", "-1 point", "-3 points"]
    assert format_changes(0.614, [0.002]) == ["under 1 point"] and format_changes(0.6, []) == []
