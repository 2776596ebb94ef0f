"""The client against a real HTTP server: every fault it may meet, how often it asks, and that Stop works at
once."""

from __future__ import annotations

import gzip
import logging
import subprocess
import sys
import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from pydantic import BaseModel

from agent.errors import ModelUnavailable, StopRequested
from agent.llm import server as server_module
from agent.llm.client import ModelClient
from agent.llm.model import Completion, CompletionRequest
from agent.settings.config import ROOT
from tests.web import model_server as web
from tests.web.model_server import Answer, ModelServer

pytestmark = pytest.mark.slow

KEY = "sk-very-secret-0123456789"
ASK = [{"role": "user", "content": "Is it? Answer in JSON."}]


class Yes(BaseModel):
    ok: bool


def made(server: ModelServer, *, timeout_s: float = 5.0, patience_s: float = 120.0) -> ModelClient:
    return ModelClient(
        server.url,
        strong="big",
        fast="small",
        key=KEY,
        timeout_s=timeout_s,
        patience_s=patience_s,
        backoff_s=0.01,
    )


def asked(client: ModelClient, checkpoint=lambda: None, tier="strong") -> Completion:
    return client.complete(CompletionRequest(ASK, Yes, tier, checkpoint=checkpoint))


def failure(server: ModelServer, **settings) -> str:
    with pytest.raises(ModelUnavailable) as caught:
        asked(made(server, **settings))
    assert caught.value.__cause__ is None  # what the SDK raised holds the request, and with it the key
    return str(caught.value)


def test_a_reply_comes_with_its_tokens_and_the_model_of_its_tier():
    with ModelServer(lambda request: '{"ok": true}') as server:
        client = made(server)
        strong, fast = asked(client), asked(client, tier="fast")
    assert (strong.text, strong.prompt_tokens, strong.completion_tokens, strong.estimated) == (
        '{"ok": true}',
        11,
        7,
        False,
    )
    assert (strong.model, fast.model) == ("big", "small")
    assert [request.body["model"] for request in server.requests] == ["big", "small"]
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    "fault",
    [
        web.status(408),
        web.status(409),
        web.status(429),
        web.status(500),
        web.status(503),
        web.html(502),
        web.resets(),
        web.cuts('{"ok": true}'),
        web.raw(b'{"choices": [{"mess'),
    ],
    ids=["408", "409", "429", "500", "503", "502 page", "reset", "cut body", "broken body"],
)
def test_what_may_pass_is_tried_three_times_in_all(fault: Answer):
    with ModelServer([fault, fault, '{"ok": true}']) as server:
        assert asked(made(server)).text == '{"ok": true}'
    with ModelServer(lambda request: fault) as server:
        assert "Tried 3 times" in failure(server)
    assert len(server.requests) == 3


@pytest.mark.parametrize("slow", [web.stalls(), web.drips()], ids=["stalls", "drips"])
def test_a_call_has_a_time_limit_in_all(slow: Answer):
    with ModelServer([slow, '{"ok": true}']) as server:
        assert asked(made(server, timeout_s=0.5)).text == '{"ok": true}'
    with ModelServer(lambda request: slow) as server:
        assert "no reply within 0.2 s" in failure(server, timeout_s=0.2)
        assert server.counted(3) == 3


@pytest.mark.parametrize(
    ("fault", "advice"),
    [
        (web.status(401, f"Incorrect API key provided: {KEY}"), "Check OPENAI_API_KEY"),
        (web.status(403, f"key {KEY} may not"), "Check what the key may use"),
        (web.status(404, "The model `big` does not exist"), "Check MODEL"),
        (web.status(402, "pay first"), "no credit left"),
        (web.status(429, "quota", error_code="insufficient_quota"), "no credit left"),
        (web.status(400, "This model's maximum context length is 10 tokens"), "larger window"),
        (web.status(400, "who knows"), "who knows"),
        (web.html(), "a web page, not a reply"),
        (web.sends({"object": "chat.completion"}), "not with a chat completion"),
        (web.sends({"choices": []}), "not with a chat completion"),
        (web.sends({"choices": [{"message": None}]}), "not with a chat completion"),
        (web.sends({"error": {"message": f"no upstream for Bearer {KEY}"}}), "no upstream"),
        (web.sends([1]), "not with a chat completion"),
    ],
)
def test_what_will_not_pass_is_asked_once_and_advised_on(fault: Answer, advice: str):
    with ModelServer(lambda request: fault) as server:
        sentence = failure(server)
    assert advice in sentence and KEY not in sentence and "secret" not in sentence
    assert len(server.requests) == 1


@pytest.mark.parametrize("asks", ["0.2", "a date"], ids=["s", "date"])
def test_retry_after_is_obeyed(asks: str, monkeypatch: pytest.MonkeyPatch):
    waits: list[float] = []
    if asks == "a date":
        asks = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    monkeypatch.setattr(
        server_module, "sleep_with_checkpoint", lambda seconds, checkpoint: waits.append(seconds)
    )
    with ModelServer([web.status(429, retry_after=asks), '{"ok": true}']) as server:
        asked(made(server))
    assert len(waits) == 1 and (waits[0] == 0.2 if asks == "0.2" else 60 < waits[0] <= 90)


@pytest.mark.parametrize(("asks", "patience_s"), [("121", 120.0), ("3600", 9999.0), ("2", 1.0)])
def test_a_longer_wait_is_not_waited_for_but_told(asks: str, patience_s: float):
    with ModelServer([web.status(429, retry_after=asks)]) as server:
        sentence = failure(server, patience_s=patience_s)
    assert "try again at" in sentence and "UTC" in sentence
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("refuses", "tried"),
    [
        ({"json_schema"}, ["json_schema", "json_object"]),
        ({"json_schema", "json_object"}, ["json_schema", "json_object", "plain"]),
    ],
)
def test_the_response_format_that_works_is_remembered(refuses: set[str], tried: list[str]):
    with ModelServer(lambda request: '{"ok": true}', refuses=refuses) as server:
        client = made(server)
        asked(client)
        assert [request.format for request in server.requests] == tried
        server.requests.clear()
        with ThreadPoolExecutor(6) as pool:
            list(pool.map(lambda _: asked(client), range(12)))
        asked(client.with_models("big"))
        server.refuses.clear()
        asked(client.with_models("other"))
        assert server.requests.pop().format == "json_schema", "each model is known by itself"
        assert {request.format for request in server.requests} == {tried[-1]} and len(server.requests) == 13


def test_reasoning_models_get_the_parameters_they_take():
    def picky(request: web.Request) -> web.Reply:
        if "max_tokens" in request.body:
            return web.status(
                400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
            )
        if "temperature" in request.body:
            return web.status(400, "Unsupported value: 'temperature' does not support 0 with this model.")
        return {"ok": True}

    with ModelServer(picky) as server:
        client = made(server)
        asked(client)
        asked(client)
    assert len(server.requests) == 4 and server.requests[-1].body["max_completion_tokens"] > 0


@pytest.mark.parametrize(
    ("reply", "text", "finish"),
    [
        (web.says(None), "", "stop"),
        (web.says(""), "", "stop"),
        (web.says([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}, 3]), "ab", "stop"),
        (web.says({"odd": 1}), "", "stop"),
        (web.says("half", finish="length"), "half", "length"),
        (web.says("odd", finish=[1]), "odd", "other"),
        (web.says(None, refusal="I won't."), "I won't.", "refusal"),
        (web.says("", finish="content_filter"), "", "content_filter"),
        (web.says(None, tool_calls=[{"id": "1"}], finish="tool_calls"), "", "tool_calls"),
        (web.says("a\ud800b"), "a?b", "stop"),
        (web.raw(b'{"choices": [{"message": {"content": "\xff"}}]}'), "\ufffd", "stop"),
    ],
)
def test_every_form_of_content_becomes_text(reply: Answer, text: str, finish: str):
    with ModelServer([reply]) as server:
        got = asked(made(server))
    assert (got.text, got.finish_reason) == (text, finish)


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        (None, (0, 10, True)),
        ([], (0, 10, True)),
        ({"prompt_tokens": 0}, (0, 10, True)),
        ({"prompt_tokens": "many", "completion_tokens": 50}, (0, 10, True)),
        ({"prompt_tokens": 10**18, "completion_tokens": 50}, (0, 10, True)),
        ({"prompt_tokens": 1_500, "completion_tokens": -3}, (1_500, 10, True)),
        ({"prompt_tokens": 9_000, "completion_tokens": 32_000}, (9_000, 32_000, False)),
    ],
)
def test_tokens_are_estimated_where_the_server_tells_none_to_believe(
    usage: object, counted: tuple[int, int, bool]
):
    reply = {"choices": [{"message": {"content": "x" * 40}, "finish_reason": None}], "usage": usage}
    with ModelServer([web.sends(reply)]) as server:
        got = asked(made(server))
    assert got.prompt_tokens == counted[0] or (not counted[0] and 5 <= got.prompt_tokens < 40)
    assert (got.completion_tokens, got.estimated) == counted[1:]


@pytest.mark.parametrize("arguments", ['{"ok": true}', {"ok": True}])
def test_a_reply_may_come_as_the_arguments_of_a_function(arguments: object):
    call = {"id": "c1", "type": "function", "function": {"name": "Yes", "arguments": arguments}}
    with ModelServer([web.says(None, finish="tool_calls", tool_calls=[call])]) as server:
        client = made(server).with_options(tries=1, format="function_calling", extra={})
        assert asked(client).text == '{"ok": true}'
    body = server.requests[0].body
    assert body["tool_choice"]["function"]["name"] == body["tools"][0]["function"]["name"] == "Yes"
    assert "response_format" not in body


@pytest.mark.parametrize("answer", [web.stalls(), web.status(429, retry_after=100)], ids=["thinks", "waits"])
def test_stop_works_at_once_and_leaves_no_thread(answer: Answer):
    with ModelServer([answer]) as server:

        def checkpoint() -> None:
            if server.arrived.is_set():
                raise StopRequested("stop")

        before = threading.active_count()
        with pytest.raises(StopRequested):
            asked(made(server, timeout_s=600), checkpoint)
        left = [thread.name for thread in threading.enumerate() if "process_request" not in thread.name]
        assert len(left) <= before and len(server.requests) == 1


def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    with ModelServer(['{"ok": true}']) as server:
        assert asked(made(server)).text


def test_the_key_is_nowhere_to_be_read(caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    with ModelServer([web.status(500, f"crash with {KEY}"), '{"ok": true}']) as server:
        client = made(server)
        asked(client)
        shown = f"{client!r} {client} {client.server}"
    assert KEY not in shown and "big" in shown
    assert KEY not in caplog.text


def test_importing_the_package_does_not_import_the_sdk():
    modules = "client, detect, embed, model, parse_reply, prices, request_options, server, structured_call"
    code = f"from agent.llm import {modules}; import agent.roles.prompt_templates, sys; sys.exit(bool({{'openai', 'httpx2'}} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_extra_fields_are_sent_in_every_body_and_tries_are_counted():
    with ModelServer([web.status(500), '{"ok": true}', web.status(500)]) as server:
        plain = made(server)
        client = plain.with_options(tries=2, format="json_schema", extra={"vram_limit": 24})
        asked(client)
        with pytest.raises(ModelUnavailable, match="Tried 1 time;"):
            asked(plain.with_options(tries=1, format="json_schema", extra={}).with_models("other"))
    assert [request.body.get("vram_limit") for request in server.requests] == [24, 24, None]


@pytest.mark.parametrize(
    ("body", "headers", "told"),
    [
        (
            gzip.compress(b" " * 50_000_000),
            {"Content-Encoding": "gzip"},
            "larger than 4 MB, the limit for a reply of a model",
        ),
        (b" " * 5_000_000, {}, "larger than 4 MB"),
        (b"[" * 200_000, {}, "not JSON"),
        (b"abc", {"Content-Encoding": "br"}, "compression that is not read here"),
        (b"abc", {"Content-Encoding": "zstd"}, "compression that is not read here"),
        (b"abc", {"Content-Encoding": "deflate"}, "compression that is not read here"),
    ],
    ids=["gzip", "long", "deep", "br", "zstd", "deflate"],
)
def test_a_bomb_is_a_broken_reply(body: bytes, headers: dict[str, str], told: str):
    with ModelServer(lambda request: Answer(body=body, headers=headers)) as server:
        sentence = failure(server)
    assert told in sentence and "Tried 3 times" in sentence


def test_connections_are_kept_between_calls():
    with ModelServer(lambda request: '{"ok": true}') as server:
        client = made(server)
        for _ in range(4):
            asked(client)
        assert server.connections == 1
        client.close()


@pytest.mark.parametrize("charset", ["punycode", "zlib", "rot13", "utf-16"])
def test_an_answer_is_utf_8_whatever_codec_the_server_names(charset: str):
    named = f"application/json; charset={charset}"
    good = web.says('{"ok": true, "said": "Ä"}').body
    with ModelServer([web.raw(good, named)]) as server:
        assert asked(made(server)).text == '{"ok": true, "said": "Ä"}'
    refusal = Answer(401, b'{"error": {"message": "no"}}', named)
    with ModelServer([refusal]) as server:
        assert "did not accept the key (401)" in failure(server)


def test_a_refusal_of_megabytes_is_not_parsed_whole():
    many = b'{"error": [' + b"[]," * 1_300_000 + b"[]]}"
    with ModelServer([Answer(401, many)]) as server:
        client = made(server)
        tracemalloc.start()
        try:
            with pytest.raises(ModelUnavailable, match="401"):
                asked(client)
            assert tracemalloc.get_traced_memory()[1] < 40_000_000
        finally:
            tracemalloc.stop()
