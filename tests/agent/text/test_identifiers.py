"""Codes are found however they are typed, and words, years and amounts are none."""

from __future__ import annotations

import pytest

from agent.text.identifiers import find_codes, find_unmistakable_codes, is_same_code


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("What is E31?", ["e31"]),
        ("e-31 and ERR_404, then E31", ["e31", "err404"]),
        ("error 58", ["58"]),
        ("Fehler Nr. 12!", ["12"]),
        ("code E 70", ["70"]),
        ("rfc2119", ["rfc2119"]),
        ("in 2019 on port 7410, 30 days, 256 MB", []),
        ("", []),
        ("E31错误是什么意思", ["e31"]),
        ("x_e31 1e5", []),
    ],
)
def test_codes_are_spelled_one_way(text: str, found: list[str]) -> None:
    assert find_codes(text) == found


def test_what_might_be_a_word_is_not_marked() -> None:
    assert find_unmistakable_codes("mp3 ww2 h2o covid19 see you at 4pm") == [] and find_unmistakable_codes(
        "E31, err-404, error 58"
    ) == ["e31", "err404", "58"]


def test_a_bare_number_is_the_code_that_ends_in_it() -> None:
    assert (
        is_same_code("58", "e58")
        and is_same_code("e58", "e58")
        and not is_same_code("58", "e158")
        and not is_same_code("e58", "f58")
        and not is_same_code("e31", "e311")
    )
