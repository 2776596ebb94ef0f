"""What of an instruction code can obey: how long an answer may be."""

from __future__ import annotations

import pytest

from agent.text.brevity import BRIEF, Wish, wish


@pytest.mark.parametrize(
    ("instruction", "found"),
    [
        ("", Wish()), ("Answer briefly.", Wish(BRIEF)), ("Please keep it short", Wish(BRIEF)), ("Answer in one sentence", Wish(1)),
        ("Antworte kurz", Wish(BRIEF)), ("Only the prices", Wish(0, True)), ("Prefer the FAQ. Be concise.", Wish(BRIEF, True)),
        ("Reply in German, in a single sentence", Wish(1, True)),
    ],
)  # fmt: skip
def test_length_is_obeyed_and_all_else_is_more_than_code_can(instruction: str, found: Wish):
    assert wish(instruction) == found
