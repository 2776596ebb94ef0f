"""The rule of thumb for tokens."""

from __future__ import annotations

from agent.llm.model import estimate


def test_a_token_is_about_four_characters():
    assert (estimate(""), estimate("abcd"), estimate("a" * 4000)) == (1, 1, 1000)
