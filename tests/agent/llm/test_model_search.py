"""The search for the model: nobody who only looks waits for a server."""

from __future__ import annotations

import threading

import pytest

from agent.llm import detect
from agent.llm.detect import ModelSearch
from agent.settings.config import read_config
from tests.waiting import wait_for
from tests.web.model_server import ModelServer, stalls


def searching(server: ModelServer, **more: str) -> ModelSearch:
    return ModelSearch(read_config({"OPENAI_BASE_URL": server.url, "EMBEDDING_MODEL": "off", **more}))


def test_what_looks_gets_the_model_or_nothing_yet() -> None:
    told = threading.Event()
    with ModelServer() as server:
        search = searching(server)
        server.models = stalls()
        assert search.peek() is None and search.peek() is None
        assert server.paths == ["/v1/models"], "one search is under way"
        server.closing.set()
        found = search.find()
    assert found.client is None and search.peek() is found and not told.is_set()


def test_a_found_model_is_kept_and_searched_again_when_asked() -> None:
    with ModelServer(models=["first"]) as server:
        search = searching(server)
        assert search.find().client.strong == "first"  # type: ignore[union-attr]
        server.models = ["second"]
        assert search.peek().client.strong == "first" and len(server.paths) == 1  # type: ignore[union-attr]
        assert search.find(again=True).client.strong == "second"  # type: ignore[union-attr]


@pytest.mark.parametrize("named", ["", "first"])
def test_the_list_is_read_anew_by_a_search_that_was_asked_for(named: str) -> None:
    with ModelServer(models=["first"]) as server:
        search = searching(server, MODEL=named)
        wait_for(lambda: search.list_models() == ["first"])
        server.models = ["first", "new"]
        assert search.list_models() == ["first"]
        search.find(again=True)
        wait_for(lambda: search.list_models() == ["first", "new"])


def test_a_search_that_found_none_is_repeated_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer(models=[]) as server:
        search = searching(server)
        assert search.find().client is None
        server.models = ["late"]
        assert search.find().client is None and len(server.paths) == 1, "not yet"
        monkeypatch.setattr("agent.llm.detect.RETRY_S", -1.0)
        assert search.find().client.strong == "late"  # type: ignore[union-attr]
        assert search.peek() and len(server.paths) == 2, "one that was found is kept"


def test_many_who_ask_at_once_share_one_search() -> None:
    with ModelServer(models=["only"]) as server:
        search = searching(server)
        threads = [threading.Thread(target=search.find) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert server.paths == ["/v1/models"]


@pytest.mark.parametrize("settings", [{"OLLAMA_URL": ""}, {"OPENAI_API_KEY": "k", "MODEL": "m"}])
def test_settings_that_tell_the_model_need_no_search(
    settings: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.llm.detect.QUICK_S", 0.0)
    monkeypatch.setattr(detect, "_list_models", lambda *_, **__: 1 / 0)
    assert ModelSearch(read_config(settings)).peek()
