"""The lists in `data/`: sections, comments, and patterns that compile."""

from __future__ import annotations

import pytest

from agent.text.word_lists import compile_any, compile_names, read_lists


@pytest.mark.parametrize("name", ["walls", "page_parts", "forum", "regions"])
def test_every_list_has_entries_and_no_comment(name: str) -> None:
    lists = read_lists(name)
    assert lists and all(entries for entries in lists.values())
    assert not [entry for entries in lists.values() for entry in entries if entry.startswith("#")]


def test_a_name_is_found_as_a_whole_part_only() -> None:
    pattern = compile_names(("nav", "tabs?"))
    assert pattern.search("site-nav") and pattern.search("Tab active") and not pattern.search("navigate")


def test_any_entry_matches_in_either_case() -> None:
    assert compile_any(("log ?in", "anmelden")).search("Bitte ANMELDEN")
