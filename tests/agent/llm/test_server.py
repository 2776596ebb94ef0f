"""What a server's answers mean, in their many forms, and what its address is for a person. The rest is in
test_client."""

from __future__ import annotations

import gzip

import pytest
from pydantic import BaseModel

from agent.errors import ModelUnavailable
from agent.llm.client import ModelClient
from agent.llm.model import Completion, CompletionRequest
from agent.llm.server import identify_server, redact_keys, request_json
from agent.net.deadline import Deadline, DeadlineExceeded
from agent.net.exchange import AnswerUnusable
from agent.net.ssrf_guard import HostUnreachable
from tests.tables import by_table
from tests.web.model_server import Answer, ModelServer, drips, html, resets, sends, stalls


class Said(BaseModel):
    text: str


def ask(answer: Answer) -> Completion:
    """The completion that this answer to a prompt of 1,000 tokens is."""
    with ModelServer(lambda _: answer) as server:
        client = ModelClient(server.url, strong="m", key="topsecret", backoff_s=0.001)
        return client.complete(CompletionRequest([{"role": "user", "content": "y" * 3_969}], Said))


@by_table
def test_a_server_is_named_by_its_host_alone(url: str, server: str, local: bool):
    assert identify_server(url, "NAME") == (server, local)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (Answer(body=b"[" * 200_000), None),
        (html(), None),
        (Answer(status=307, headers={"Location": "http://127.0.0.1:9/"}), None),
        (Answer(body=gzip.compress(b" " * 20_000_000), headers={"Content-Encoding": "gzip"}), AnswerUnusable),
        (Answer(body=b" " * 2_000_000), AnswerUnusable),
        (Answer(body=b"x", headers={"Content-Encoding": "br"}), AnswerUnusable),
        (drips(), DeadlineExceeded),
        (stalls(), DeadlineExceeded),
        (resets(), HostUnreachable),
    ],
    ids=["deep", "page", "redirect", "gzip", "long", "br", "drips", "stalls", "resets"],
)
def test_a_hostile_list_is_nothing_or_an_error_of_a_kind(answer: Answer, error: type[Exception] | None):
    limit = Deadline(0.5 if error is DeadlineExceeded else 5)
    with ModelServer() as server:
        server.models = answer
        if error is None:
            assert request_json(f"{server.url}/models", key="", deadline=limit) == (answer.status, None)
            return
        with pytest.raises(error):
            request_json(f"{server.url}/models", key="", deadline=limit)


def test_a_key_or_a_name_and_password_in_the_address_are_sent():
    with ModelServer() as server:
        server.models = sends({"data": [1]})
        assert request_json(f"{server.url}/models", key="k", deadline=Deadline(5)) == (200, {"data": [1]})
        url = server.url.replace("//", "//ann:se%20cret@")
        request_json(f"{url}/models", key="k", deadline=Deadline(5))
        assert server.keys == {"Bearer k", "Basic YW5uOnNlIGNyZXQ="}


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
        ('{"error": {"message": "no \\ud800"}}', ": no ?."),
        ("[" * 100_000, "…."),
    ],
)
def test_what_the_server_said_is_told_in_short(body: str, said: str):
    with pytest.raises(ModelUnavailable) as caught:
        ask(Answer(500, body.encode()))
    told = str(caught.value)
    assert told.endswith(f"{said} Tried 3 times; try again later.") and len(told) < 340


@pytest.mark.parametrize(
    "said", ["bad key sk-abcd***wxyz!", "Bearer abc.def is wrong", "key=topsecret", "gsk_0123456789"]
)
def test_keys_are_struck_out(said: str):
    shown = redact_keys(said, "topsecret")
    assert "[key]" in shown and not {"abcd", "abc.def", "topsecret", "0123456789"} & set(
        shown.replace("-", " ").split()
    )
