"""What of an instruction code can obey: how long an answer may be."""

from __future__ import annotations

import pytest

from agent.roles.note_requests import BRIEF_SENTENCES, LengthRequest, parse_length_request


@pytest.mark.parametrize(
    ("instruction", "found"),
    [
        ("", LengthRequest()),
        ("Answer briefly.", LengthRequest(BRIEF_SENTENCES)),
        ("Please keep it short", LengthRequest(BRIEF_SENTENCES)),
        ("Answer in one sentence", LengthRequest(1)),
        ("Antworte kurz", LengthRequest(BRIEF_SENTENCES)),
        ("Only the prices", LengthRequest(0, True)),
        ("Prefer the FAQ. Be concise.", LengthRequest(BRIEF_SENTENCES, True)),
        ("Reply in German, in a single sentence", LengthRequest(1, True)),
    ],
)
def test_length_is_obeyed_and_all_else_is_more_than_code_can(instruction: str, found: LengthRequest):
    assert parse_length_request(instruction) == found
