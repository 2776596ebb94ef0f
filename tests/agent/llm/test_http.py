"""Addresses of model servers, and one JSON request with its problems, against a real server on loopback."""

from __future__ import annotations

import gzip

import pytest

from agent.llm.http import UnexpectedReply, check_server_url, identify_server, request_json
from agent.net.deadline import Deadline, DeadlineExceeded
from agent.net.exchange import AnswerUnusable
from agent.net.policies import MODEL_LIST, VECTORS
from agent.net.ssrf_guard import HostUnreachable
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


@pytest.mark.parametrize(("answer", "code"), [(status(503), 503), (html(), 200)])
def test_an_answer_that_is_no_json_comes_with_its_status(answer, code: int):
    with ModelServer(embeds=lambda _texts: answer) as server, pytest.raises(UnexpectedReply) as caught:
        request_json(f"{server.url}/embeddings", VECTORS, key="k", body={"input": ["x"]})
    assert caught.value.reply.status == code


def test_the_json_of_a_200_comes_back():
    with ModelServer(embeds=lambda _texts: sends({"data": [1]})) as server:
        assert request_json(f"{server.url}/embeddings", VECTORS, key="k", body={"input": ["x"]}) == {
            "data": [1]
        }
        assert server.requests[0].headers["authorization"] == "Bearer k"


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (Answer(body=b"[" * 200_000), UnexpectedReply),
        (Answer(body=gzip.compress(b" " * 20_000_000), headers={"Content-Encoding": "gzip"}), AnswerUnusable),
        (Answer(body=b" " * 2_000_000), AnswerUnusable),
        (Answer(body=b"x", headers={"Content-Encoding": "br"}), AnswerUnusable),
        (drips(), DeadlineExceeded),
        (stalls(), DeadlineExceeded),
        (resets(), HostUnreachable),
        (Answer(status=307, headers={"Location": "http://127.0.0.1:9/"}), UnexpectedReply),
    ],
    ids=["deep", "gzip", "long", "br", "drips", "stalls", "resets", "redirect"],
)
def test_a_hostile_list_is_an_error_of_a_kind(answer: Answer, error: type[Exception]):
    limit = Deadline(0.5) if error is DeadlineExceeded else None
    with ModelServer() as server:
        server.models = answer
        with pytest.raises(error):
            request_json(f"{server.url}/models", MODEL_LIST, key="", deadline=limit)


def test_a_name_and_password_in_the_address_are_sent():
    with ModelServer(embeds=lambda _texts: sends({})) as server:
        url = server.url.replace("//", "//ann:se%20cret@")
        request_json(f"{url}/embeddings", VECTORS, key="k", body={"input": ["x"]})
        assert server.requests[0].headers["authorization"] == "Basic YW5uOnNlIGNyZXQ="
