"""How many tokens a model takes: what servers tell of it, each in its own way."""

from __future__ import annotations

from typing import Any

import pytest

from agent.llm import client as client_module
from agent.llm.client import OLLAMA_TOKENS, ModelClient, ask_context_length
from agent.llm.model import ASSUMED_TOKENS
from agent.net.deadline import Deadline
from tests.tables import by_table

LOCAL, REMOTE = "http://127.0.0.1:11434/v1", "https://models.example/v1"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Answers by path, to be filled; a path that is missing is a 404. `paths` under "" are those asked for."""
    answers: dict[str, Any] = {"": []}

    def request(url: str, *, key: str, deadline: Deadline) -> tuple[int, Any]:
        path = "/" + url.split("/", 3)[3]
        answers[""].append(path)
        return (200, answers[path]) if path in answers else (404, None)

    monkeypatch.setattr(client_module, "request_json", request)
    return answers


def listing(**fields: Any) -> dict[str, Any]:
    return {"data": [{"id": "other", "max_model_len": 99_999}, {"id": "small", "object": "model", **fields}]}


@by_table
def test_a_listed_model_may_tell_it_in_many_fields(asked: dict[str, Any], fields: dict[str, Any]) -> None:
    asked["/v1/models"] = listing(**fields)
    assert ask_context_length(REMOTE, "key", "small") == (8192, True)


@pytest.mark.parametrize("fields", [{}, {"max_model_len": "8192"}, {"context_window": 0}, {"meta": None}])
def test_a_hosted_server_that_does_not_tell_is_asked_nothing_more(
    asked: dict[str, Any], fields: dict[str, Any]
) -> None:
    asked["/v1/models"] = listing(**fields)
    assert ask_context_length(REMOTE, "key", "small") == (0, True)
    assert asked[""] == ["/v1/models"]


def test_lm_studio_and_llama_cpp_tell_it_at_addresses_of_their_own(asked: dict[str, Any]) -> None:
    asked["/props"] = {"default_generation_settings": {"n_ctx": 4096}}
    assert ask_context_length(LOCAL, "", "small") == (4096, True)
    asked["/api/v0/models"] = listing(max_context_length=32_768, loaded_context_length=6144)
    assert ask_context_length(LOCAL, "", "small") == (6144, True)


def test_ollama_tells_it_of_a_loaded_model_only(asked: dict[str, Any]) -> None:
    asked["/api/ps"] = {"models": []}
    assert ask_context_length(LOCAL, "", "small") == (OLLAMA_TOKENS, False)
    asked["/api/ps"] = {"models": [{"model": "small:latest", "context_length": 32_000}]}
    assert ask_context_length(LOCAL, "", "small") == (32_000, True)


def test_a_local_server_that_answers_every_address_tells_nothing(asked: dict[str, Any]) -> None:
    for path in ("/v1/models", "/api/v0/models", "/props", "/api/ps"):
        asked[path] = listing()
    assert ask_context_length(LOCAL, "", "small") == (0, True)


def test_a_client_asks_once_and_a_setting_saves_the_question(asked: dict[str, Any]) -> None:
    asked["/v1/models"] = listing(max_model_len=8192)
    client = ModelClient(REMOTE, strong="small", fast="unknown")
    assert [client.context_length(tier) for tier in ("strong", "strong", "fast")] == [
        8192,
        8192,
        ASSUMED_TOKENS,
    ]
    assert len(asked[""]) == 2, "once for each model"
    assert ModelClient(REMOTE, strong="small", context=5000).context_length("strong") == 5000
    assert len(asked[""]) == 2
