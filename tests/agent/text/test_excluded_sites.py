"""What a note forbids: addresses and hosts in sentences that refuse, in a few languages; nothing else."""

from __future__ import annotations

import pytest

from agent.text.excluded_sites import find_excluded_sites, is_excluded, remove_exclusion_sentences


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
