"""Secrets are replaced wherever they stand; plain words that serve as a local server's key are not."""

from __future__ import annotations

import pytest

from agent.export.hiding import make_redactor


def test_keys_and_passwords_are_hidden_in_texts_keys_and_depths():
    hidden = make_redactor(["sk-abc12345", "averylongpasswordwithout"])
    given = {
        "a sk-abc12345": ["x averylongpasswordwithout y", {"b": 3, "c": None}],
        "u": "https://me:pw@host.example/x",
        "m": "mail me@x.example",
    }
    told = hidden(given)
    assert told == {
        "a [hidden]": ["x [hidden] y", {"b": 3, "c": None}],
        "u": "https://[hidden]@host.example/x",
        "m": "mail me@x.example",
    }


@pytest.mark.parametrize("word", ["ollama", "none", "lm-studio", "not-needed"])
def test_a_plain_word_is_no_secret(word):
    assert make_redactor([word])(f"the {word} server") == f"the {word} server"
