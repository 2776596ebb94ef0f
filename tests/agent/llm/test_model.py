"""The rule of thumb for tokens."""

from __future__ import annotations

from agent.llm.model import estimate_tokens


def test_a_token_is_about_four_characters():
    assert (estimate_tokens(""), estimate_tokens("abcd"), estimate_tokens("a" * 4000)) == (1, 1, 1000)
