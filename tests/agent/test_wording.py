"""A number of things in a sentence."""

from __future__ import annotations

from agent.wording import counted


def test_one_thing_and_many():
    assert [counted(1, "page"), counted(1200, "page")] == ["1 page", "1,200 pages"]
    assert [counted(0, "fact"), counted(2, "entry", "entries"), counted(3.0, "site")] == ["0 facts", "2 entries", "3 sites"]
