"""The double: replies in order or by function, counted, under many threads, with the client's own surface."""

from __future__ import annotations

import inspect
from concurrent.futures import ThreadPoolExecutor

import pytest
from pydantic import BaseModel

from agent.errors import ModelUnavailable, StopRequested
from agent.llm.client import ModelClient
from agent.llm.model import Completion, CompletionRequest
from tests.web.scripted import ScriptedModel


class Yes(BaseModel):
    ok: bool = True


def asked(model: ScriptedModel, text: str = "hello", checkpoint=lambda: None, tier="fast") -> str:
    messages = [{"role": "user", "content": text}]
    return model.complete(CompletionRequest(messages, Yes, tier, checkpoint=checkpoint)).text


def test_replies_come_in_order_in_every_form():
    model = ScriptedModel(
        ["raw", {"ok": False}, Yes(), Completion("cut", 1, 1, 0.0, "m", "length"), ModelUnavailable("gone")]
    )
    assert [asked(model) for _ in range(4)] == ["raw", '{"ok": false}', '{"ok":true}', "cut"]
    for words in ("gone", "no reply left"):
        with pytest.raises(ModelUnavailable, match=words):
            asked(model)
    assert model.calls == 6


def test_a_function_sees_the_messages_and_the_shape():
    model = ScriptedModel(
        lambda messages, schema: f"{schema.__name__}: {messages[-1]['content']}", strong="s", fast="f"
    )
    assert asked(model, "hi") == "Yes: hi"
    assert (model.requests[0].tier, model.requests[0].schema, model.strong, model.fast) == (
        "fast",
        Yes,
        "s",
        "f",
    )


def test_each_thread_gets_its_own_reply():
    model = ScriptedModel([str(n) for n in range(200)])
    with ThreadPoolExecutor(8) as pool:
        got = list(pool.map(lambda _: asked(model), range(200)))
    assert sorted(map(int, got)) == list(range(200)) and model.calls == 200


def test_a_stopped_run_gets_none():
    def checkpoint() -> None:
        raise StopRequested("stop")

    model = ScriptedModel(["x"])
    with pytest.raises(StopRequested):
        asked(model, checkpoint=checkpoint)
    assert model.calls == 0


def test_it_is_asked_just_as_a_client_is():
    assert inspect.signature(ScriptedModel.complete) == inspect.signature(ModelClient.complete)
