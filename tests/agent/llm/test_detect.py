"""Finding a server: named ones, a local Ollama, none; and the check button. Never an error, never a key in a
sentence."""

from __future__ import annotations

import pytest

from agent.llm.client import ModelClient
from agent.llm.detect import DetectedModel, check_model, find_model
from agent.settings.config import read_config
from tests.tables import by_table
from tests.web import model_server as web
from tests.web.model_server import Answer, ModelServer

KEY = "sk-very-secret-0123456789"


def found(**given: str) -> DetectedModel:
    got = find_model(read_config({"OLLAMA_URL": "", **given}))
    assert KEY not in repr(got)
    assert got.detail.endswith((".", "rules alone."))
    return got


def test_nothing_is_set_up():
    got = found()
    assert got.client is None
    assert "OPENAI_API_KEY" in got.detail


def test_a_named_model_is_taken_without_asking_the_server():
    with ModelServer(models=["other"]) as server:
        got = found(
            OPENAI_BASE_URL=server.url,
            OPENAI_API_KEY=KEY,
            MODEL="mine",
            FAST_MODEL="quick",
            MODEL_TIMEOUT="7",
        )
    assert isinstance(got.client, ModelClient)
    assert (got.client.strong, got.client.fast, server.paths) == ("mine", "quick", [])
    assert got.detail == f"mine at {server.url[7:-3]}, as MODEL says."


def test_the_first_chat_model_is_chosen():
    with ModelServer(
        models=["text-embedding-3-small", "whisper-1", "tts-1-hd", "bge-m3", "llama3.1", "gpt-4o"]
    ) as server:
        got = found(OPENAI_BASE_URL=server.url + "/")
    assert got.client is not None
    assert (got.client.strong, got.client.fast, got.client.local) == ("llama3.1", "llama3.1", True)


@pytest.mark.parametrize(
    ("models", "why"),
    [
        ([], "offers no model"),
        (["nomic-embed-text", "whisper-1"], "offers no chat model"),
        (web.status(401, f"bad {KEY}"), "did not accept the key"),
        (web.status(404), "did not list its models (404)"),
        (web.status(500), "did not list its models (500)"),
        (web.html(), "did not answer like a model server"),
        (web.raw(b'{"data": [{"id": 3}, "x", {}]}'), "offers no model"),
        (web.raw(b"[1]"), "offers no model"),
        (web.resets(), "could not be reached"),
        (Answer(status=302, headers={"Location": "http://127.0.0.1:9/"}), "did not list its models (302)"),
    ],
)
def test_why_there_is_none(models: list[str] | Answer, why: str):
    with ModelServer() as server:
        server.models = models
        got = found(OPENAI_BASE_URL=server.url, OPENAI_API_KEY=KEY)
    assert got.client is None
    assert why in got.detail


@by_table
def test_an_address_that_is_none(url: str):
    assert found(OPENAI_BASE_URL=url).client is None


def test_a_key_that_fits_into_no_header():
    with ModelServer(['{"ok": true}']) as server:
        assert found(OPENAI_BASE_URL=server.url, OPENAI_API_KEY=KEY + "\u2026").client is None
        got = found(OPENAI_BASE_URL=server.url, OPENAI_API_KEY=KEY + "\u2026", MODEL="m")
        assert got.client is not None
        ok, sentence = check_model(got.client)
    assert not ok
    assert KEY not in sentence


def test_a_local_ollama_is_found():
    with ModelServer(models=["nomic-embed-text:latest", "qwen3:8b", "phi4:latest"]) as server:
        here = server.url.removesuffix("/v1")
        first, named, gone = (found(OLLAMA_URL=here, MODEL=name) for name in ("", "phi4", "big"))
    assert first.client is not None and named.client is not None
    assert (first.client.strong, named.client.strong) == ("qwen3:8b", "phi4")
    assert first.detail.startswith("qwen3:8b on the Ollama at 127.0.0.1:")
    assert gone.client is None
    assert "ollama pull big" in gone.detail


@pytest.mark.parametrize(
    "there", [web.stalls(), web.status(500), web.html()], ids=["slow", "500", "a web page"]
)
def test_something_else_on_its_port_is_no_ollama(there: Answer):
    with ModelServer() as server:
        server.models = there
        assert found(OLLAMA_URL=server.url.removesuffix("/v1")).client is None


def test_a_named_server_that_fails_is_not_replaced():
    with ModelServer(models=["qwen3:8b"]) as server:
        got = found(OPENAI_BASE_URL="http://127.0.0.1:1/v1", OLLAMA_URL=server.url.removesuffix("/v1"))
    assert got.client is None
    assert server.paths == []


def test_the_check_says_what_is_wrong_and_that_it_works():
    with ModelServer([web.status(401, f"wrong {KEY}"), "hello", "hello", '{"ok": true}']) as server:
        client = ModelClient(server.url, strong="m", key=KEY)
        refused, odd, works = check_model(client), check_model(client), check_model(client)
    assert works[0] and works[1].startswith("m at 127.0.0.1:")
    assert refused[0] is odd[0] is False
    assert "OPENAI_API_KEY" in refused[1] and "not as asked" in odd[1]
    assert KEY not in refused[1] + odd[1]


def test_the_check_does_not_wait_for_ever():
    with ModelServer([web.stalls()]) as server:
        ok, sentence = check_model(ModelClient(server.url, strong="m", timeout_s=600), within_s=0.1)
    assert not ok
    assert "no reply within 0.1 s" in sentence
