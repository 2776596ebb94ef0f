"""Reading HTTP answers without a network: error bodies in their many forms, waits, keys. The rest is in
test_client."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent.llm.http_errors import (
    ServerFault,
    explain_error_status,
    parse_completion,
    read_retry_after,
    redact_keys,
)
from agent.llm.model import Completion


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('{"error": {"message": "the words"}}', ": the words."),
        ('{"error": "the words"}', ": the words."),
        ('{"message": "the words."}', ": the words."),
        ('{"detail": "the\\n  words"}', ": the words."),
        ("the words", ": the words."),
        ("<html>x", ": a web page."),
        ("", "(500)."),
        ('{"error": {"message": "' + "w" * 900 + '"}}', "www…."),
        ("[" * 100_000, "…."),
    ],
)
def test_what_the_server_said_is_told_in_short(body: str, said: str):
    fault = explain_error_status(500, {}, body, server="host", model="m")
    assert fault.sentence.endswith(said) and len(fault.sentence) < 300 and fault.can_retry


def test_only_a_refused_form_is_a_complaint():
    assert (
        explain_error_status(400, {}, '{"error": "no json_schema"}', server="host", model="m").complaint
        == "no json_schema"
    )
    assert (
        explain_error_status(401, {}, '{"error": "no json_schema"}', server="host", model="m").complaint == ""
    )


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Sat, 21 Nov 2020 09:00:00 GMT"}, 0.0),
        ({"retry-after": "Sat, 21 Nov 2020 09:00:00 -0000"}, 0.0),
        ({"retry-after": "later"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "-1"}, 0.0),
    ],
)
def test_the_wait_a_server_asks_for(headers: dict[str, str], seconds: float | None):
    assert read_retry_after(headers) == seconds


@pytest.mark.parametrize("body", ["[" * 100_000, "nothing", '{"choices": '])
def test_a_broken_body_may_be_whole_next_time(body: str):
    with pytest.raises(ServerFault) as caught:
        parse_completion(body, "application/json", server="host", prompt="p", model="m")
    assert caught.value.can_retry


@pytest.mark.parametrize(
    "said", ["bad key sk-abcd***wxyz!", "Bearer abc.def is wrong", "key=topsecret", "gsk_0123456789"]
)
def test_keys_are_struck_out(said: str):
    shown = redact_keys(said, "topsecret")
    assert "[key]" in shown and not {"abcd", "abc.def", "topsecret", "0123456789"} & set(
        shown.replace("-", " ").split()
    )


def test_no_key_strikes_out_nothing():
    assert (
        redact_keys("plain words about a task-oriented model", "")
        == "plain words about a task-oriented model"
    )


def read(**more: Any) -> Completion:
    body = {"choices": [{"message": {"content": "x" * 400}, "finish_reason": "stop"}], **more}
    return parse_completion(
        json.dumps(body), "application/json", server="here", prompt="y" * 4_000, model="m"
    )


@pytest.mark.parametrize("absurd", [10**30, 10**18, 10**6, -3, 0, "7", None])
def test_a_count_of_tokens_that_nothing_explains_is_not_believed(absurd: object):
    got = read(usage={"prompt_tokens": absurd, "completion_tokens": 50})
    assert (got.prompt_tokens, got.completion_tokens, got.estimated) == (1_000, 100, True)
    got = read(usage={"prompt_tokens": 1_500, "completion_tokens": absurd})
    assert (got.prompt_tokens, got.completion_tokens, got.estimated) == (1_500, 100, True)


def test_what_a_server_thought_unseen_is_counted():
    got = read(usage={"prompt_tokens": 9_000, "completion_tokens": 32_000})
    assert (got.prompt_tokens, got.completion_tokens, got.estimated) == (9_000, 32_000, False)


@pytest.mark.parametrize(
    ("told", "kept"),
    [("length", "length"), (None, "stop"), ("\ud800", "other"), ("a private note", "other"), ([1], "other")],
)
def test_of_how_a_reply_ended_only_known_words_are_kept(told: object, kept: str):
    assert read(choices=[{"message": {"content": "x"}, "finish_reason": told}]).finish_reason == kept


def test_half_a_surrogate_pair_of_a_server_is_replaced():
    with pytest.raises(ServerFault) as caught:
        read(choices=[], error={"message": "no \ud800"})
    assert caught.value.sentence.encode()
