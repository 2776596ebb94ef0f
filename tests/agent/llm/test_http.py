"""Addresses of model servers, and one JSON request with its problems, against a real server on loopback."""

from __future__ import annotations

import gzip

import pytest

from agent.llm.http import RequestProblem, check_server_url, identify_server, request_json
from agent.net.policies import MODEL_LIST, VECTORS
from tests.web.model_server import Answer, ModelServer, drips, html, resets, sends, stalls, status


@pytest.mark.parametrize(
    ("url", "server", "local"),
    [
        ("", "api.openai.com", False),
        ("http://localhost:11434/v1", "localhost:11434", True),
        ("http://127.0.0.1:8080/v1", "127.0.0.1:8080", True),
        ("http://[::1]:8080/v1", "[::1]:8080", True),
        ("https://name:password@models.example/v1", "models.example", False),
        ("http://127.example.com", "127.example.com", False),
    ],
)
def test_a_server_is_named_by_its_host_alone(url: str, server: str, local: bool):
    assert identify_server(url) == (server, local)


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("nonsense", "NAME is not an address."),
        ("ftp://a.example", "NAME must start with http:// or https://."),
    ],
)
def test_a_setting_that_is_no_address_is_named(url: str, sentence: str):
    with pytest.raises(ValueError, match=sentence):
        check_server_url(url, "NAME")


@pytest.mark.parametrize(
    ("answer", "kind", "code"),
    [(status(503), "status", 503), (html(), "not_json", 0), (resets(), "unreachable", 0)],
)
def test_every_failure_has_a_kind(answer, kind: str, code: int):
    with ModelServer(embeds=lambda _texts: answer) as server, pytest.raises(RequestProblem) as caught:
        request_json(f"{server.url}/embeddings", VECTORS, key="k", timeout=5, body={"input": ["x"]})
    assert (caught.value.kind, caught.value.status) == (kind, code)


def test_the_json_of_a_200_comes_back():
    with ModelServer(embeds=lambda _texts: sends({"data": [1]})) as server:
        assert request_json(
            f"{server.url}/embeddings", VECTORS, key="k", timeout=5, body={"input": ["x"]}
        ) == {"data": [1]}
        assert server.requests[0].headers["authorization"] == "Bearer k"


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Answer(body=b"[" * 200_000), "not_json"),
        (Answer(body=gzip.compress(b" " * 20_000_000), headers={"Content-Encoding": "gzip"}), "unusable"),
        (Answer(body=b" " * 2_000_000), "unusable"),
        (Answer(body=b"x", headers={"Content-Encoding": "br"}), "unusable"),
        (drips(), "timeout"),
        (stalls(), "timeout"),
        (Answer(status=307, headers={"Location": "http://127.0.0.1:9/"}), "status"),
    ],
    ids=["deep", "gzip", "long", "br", "drips", "stalls", "redirect"],
)
def test_a_hostile_list_is_a_problem_with_a_kind(answer: Answer, kind: str):
    with ModelServer() as server:
        server.models = answer
        with pytest.raises(RequestProblem) as caught:
            request_json(f"{server.url}/models", MODEL_LIST, key="", timeout=0.5 if kind == "timeout" else 0)
    assert caught.value.kind == kind


def test_a_name_and_password_in_the_address_are_sent():
    with ModelServer(embeds=lambda _texts: sends({})) as server:
        url = server.url.replace("//", "//ann:se%20cret@")
        request_json(f"{url}/embeddings", VECTORS, key="k", body={"input": ["x"]})
        assert server.requests[0].headers["authorization"] == "Basic YW5uOnNlIGNyZXQ="
