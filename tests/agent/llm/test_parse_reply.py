"""Strict parsing: what is borne around an object, and that nothing truncated, repeated or unheard of gets
through."""

from __future__ import annotations

import json
import tracemalloc
from contextlib import suppress
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict

from agent.errors import ModelReplyError
from agent.llm.parse_reply import MAX_REPLY_CHARACTERS, parse_reply


class Item(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str
    kind: Literal["a", "b"] = "a"
    score: float = 0.0


class Report(BaseModel):
    model_config = ConfigDict(extra="forbid")
    items: list[Item]
    note: str | None = None


GOOD = '{"items": [{"name": "Åsa \\"Å\\" {x}", "kind": "b", "score": 0.5}], "note": null}'
VALUE = Report.model_validate_json(GOOD)
BORNE = {
    "bare": GOOD,
    "byte order mark": f"\ufeff{GOOD}",
    "fence": f"```json\n{GOOD}\n```",
    "open fence": f"```json\n{GOOD}",
    "words before": f"Sure! Here it is:\n{GOOD}",
    "words around a fence": f"Here:\n```JSON\n{GOOD}\n```\nI hope it's fine.",
    "thoughts": f"<think>\nFirst {{}} then…\n</think>\n{GOOD}",
    "thoughts without a beginning": f'So the item {{"items": []}} is wrong.\n</think>\n{GOOD}',
    "thoughts that hold a valid object": f'<think>{{"items": []}}</think>```json\n{GOOD}```',
    "braces in words": f"With {{placeholders}} and {{}} first. {GOOD}",
    "an object that does not fit, then one that does": f'{{"draft": 1}} {GOOD}',
    "a think tag inside a string": GOOD,
    "trailing commas": GOOD.replace("}]", "},]").replace("null}", "null , }"),
    "words of Python": GOOD.replace("null", "None"),
    "long thoughts": f"<think>{'x' * MAX_REPLY_CHARACTERS}</think>{GOOD}",
    "a key twice, of which the last counts": GOOD.replace('{"items"', '{"note": "x", "items"', 1),
}
REFUSED = {
    "nothing": "",
    "null": "null",
    "a list": f"[{GOOD}]",
    "prose": "I could not find anything.",
    "single quotes": "{'items': []}",
    "NaN": '{"items": [{"name": "x", "score": NaN}]}',
    "too large a number": '{"items": [{"name": "x", "score": 1e999}]}',
    "a number of 5,000 digits": '{"items": [{"name": "x", "score": ' + "9" * 5000 + "}]}",
    "key missing": '{"note": "x"}',
    "key too many": '{"items": [], "more": 1}',
    "not in the list": '{"items": [{"name": "x", "kind": "c"}]}',
    "half a surrogate": '{"items": [], "note": "\\ud800"}',
    "unfinished thoughts": f"<think>maybe {GOOD} or",
    "deep": '{"items": ' + "[" * 100_000,
    "very deep braces": '{"a":' * 50_000 + "1" + "}" * 50_000,
    "an inner object of a broken one": f'{{"outer": {GOOD}, "more": ',
    "a brace in words that never closes": f"I think {{ is odd. {GOOD}",
    "too long": '{"items": [], "note": "' + "x" * MAX_REPLY_CHARACTERS + '"}',
}


@pytest.mark.parametrize("text", BORNE.values(), ids=BORNE.keys())
def test_what_may_stand_around_an_object(text: str):
    assert parse_reply(text, Report) == VALUE


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED.keys())
def test_what_is_refused(text: str):
    with pytest.raises(ModelReplyError) as caught:
        parse_reply(text, Report)
    assert str(caught.value).startswith("The reply") and len(str(caught.value)) < 2000


def test_slips_are_mended_in_the_text_of_json_only():
    said = '{"items": [{"name": "None, True,]",}], "note": "a\nb\tc"}'
    assert parse_reply(said, Report) == Report(items=[Item(name="None, True,]")], note="a\nb\tc")
    with pytest.raises(ModelReplyError):
        parse_reply('{"items": [],, "note": null}', Report)


def test_no_beginning_of_a_reply_passes_for_a_whole_one():
    for frame in (GOOD, f"```json\n{GOOD}", f"Here you are: {GOOD}", f"<think>{{}} {GOOD}</think>{GOOD}"):
        for cut in range(len(frame)):
            with pytest.raises(ModelReplyError):
                parse_reply(frame[:cut], Report)


def test_a_tag_of_thoughts_inside_a_value_is_left_alone():
    said = {"items": [], "note": "it said <think>x</think> and ```json"}
    assert parse_reply(json.dumps(said), Report).note == said["note"]


def test_the_message_names_the_field_and_not_the_value():
    with pytest.raises(ModelReplyError, match=r"items\.0\.name: Field required") as caught:
        parse_reply('{"items": [{"kind": "very private words"}]}', Report)
    assert "private" not in str(caught.value)


def test_many_faults_are_told_in_short():
    with pytest.raises(ModelReplyError, match="and 42 more"):
        parse_reply(json.dumps({"items": [{}] * 50}), Report)


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet='{}[]":,\\ `<think/>\n1eN-a', max_size=60))
def test_any_text_gives_a_value_or_a_reply_error(text: str):
    with suppress(ModelReplyError):
        assert isinstance(parse_reply(text, Item), Item)


@pytest.mark.slow
@pytest.mark.parametrize("before", ["", "Here it is: "])
def test_a_reply_of_faults_costs_little(before: str):
    text = f'{before}{{"items": [{",".join(["{}"] * 33_000)}]}}'
    tracemalloc.start()
    try:
        with pytest.raises(ModelReplyError, match="more"):
            parse_reply(text, Report)
        assert tracemalloc.get_traced_memory()[1] < 80_000_000
    finally:
        tracemalloc.stop()
