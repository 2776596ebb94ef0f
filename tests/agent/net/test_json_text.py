"""JSON of strangers: what it costs to read is limited."""

from __future__ import annotations

import json
import tracemalloc

import pytest

from agent.net.exchange import MAX_CONTAINERS, parse_json


def test_it_is_read() -> None:
    assert parse_json('{"a": [1, "é"]}') == parse_json('{"a": [1, "é"]}'.encode()) == {"a": [1, "é"]}
    assert parse_json("[" + "[]," * (MAX_CONTAINERS - 2) + "1]")


@pytest.mark.parametrize(
    "text",
    ["", "{", b"\xff\xfe{", "[" * 100_000, "[" * 250_000, b"[" + b"{}," * 1_300_000 + b"{}]", "1" * 10_000],
    ids=["empty", "cut", "not UTF-8", "deep", "deeper", "many objects", "long number"],
)
def test_what_cannot_be_read_is_a_value_error_and_costs_little(text: str | bytes) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(ValueError):
            parse_json(text)
        assert tracemalloc.get_traced_memory()[1] < 30_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "written", [b'{"a": "\\uD83D\\ude00 \\ud800", "\\udfff": 1}', b'\xef\xbb\xbf{"a": "\xed\xa0\x80"}']
)
def test_what_it_says_can_be_stored(written: bytes) -> None:
    said = parse_json(written)
    assert json.dumps(said, ensure_ascii=False).encode()
    assert "\\ud83d" not in repr(said) and ("😀 ?" in said["a"] or "\ufffd" in said["a"])
