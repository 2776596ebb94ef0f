"""What every engine behind an HTTP API does: honest outcomes, limits, and keys that are never shown."""

from __future__ import annotations

import threading
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote

import pytest

from agent.errors import StopRequested
from agent.settings.config import USER_AGENT
from agent.types import ENGINES, Outcome
from agent.web.engines import http_api
from agent.web.world import World
from tests.web.engine_answers import ANSWERS, EMPTY, KEYS, ask, point_at, reply
from tests.web.site import Reply, Site, sends_to

Live = Callable[..., World]
of_each = pytest.mark.parametrize("name", ANSWERS)


def test_every_engine_of_the_registry_is_tested_here_or_in_a_file_of_its_own() -> None:
    assert {engine.name for engine in ENGINES} == {*ANSWERS, "duckduckgo", "google"}


@of_each
def test_hits_are_plain_text_from_the_engine_with_ranks(live_world: Live, name: str) -> None:
    result, site = ask(live_world, name, reply(ANSWERS[name]))
    assert (result.outcome, result.engine) == (Outcome.OK, name)
    assert [hit.rank for hit in result.hits] == list(range(1, len(result.hits) + 1))
    assert all(hit.title and hit.engine == name and "<" not in hit.title + hit.snippet for hit in result.hits)
    assert all(hit.url.startswith("https://") for hit in result.hits)
    assert len(site.asked) == 1 and site.asked[0].headers["User-Agent"] == USER_AGENT
    asked = unquote(site.asked[0].path.replace("+", " ")) + site.asked[0].body.decode()
    assert all(word in asked for word in ("grey", "heron", "diet"))


@of_each
def test_nothing_found_is_empty(live_world: Live, name: str) -> None:
    result, _ = ask(live_world, name, reply(EMPTY[name]))
    assert result.outcome is Outcome.EMPTY and result.detail


@pytest.mark.slow
@of_each
@pytest.mark.parametrize(
    ("page", "outcome"),
    [
        (reply({}, 429, Retry_After="77"), Outcome.RATE_LIMITED),
        (reply({}, 503, Retry_After="77"), Outcome.RATE_LIMITED),
        (reply({}, 401), Outcome.BLOCKED),
        (reply({}, 500), Outcome.ERROR),
        (reply({}, 400), Outcome.ERROR),
        (reply("<html>not what was asked for"), Outcome.ERROR),
        (reply('[{"results": 3}]'), Outcome.ERROR),
        (sends_to("http://127.0.0.1:9/elsewhere"), Outcome.ERROR),
        (Reply(200, b"{", ends="breaks off"), Outcome.ERROR),
    ],
    ids=["429", "503", "401", "500", "400", "html", "shape", "redirect", "broken"],
)
def test_a_failure_is_never_empty(live_world: Live, name: str, page: Reply, outcome: Outcome) -> None:
    result, site = ask(live_world, name, page)
    assert (result.outcome, result.hits, len(site.asked)) == (outcome, [], 1)
    assert result.retry_after_s == (77 if outcome is Outcome.RATE_LIMITED else None)
    shown = result.model_dump_json()
    assert result.detail and site.url("") not in shown
    assert not any(secret in shown for secret in KEYS.get(name, {}).values())


@of_each
def test_a_failed_engine_is_left_alone_and_told_as_it_failed(live_world: Live, name: str) -> None:
    with Site({"/search": reply({}, 401)}) as site:
        world = live_world(**point_at(site, name))
        first, second = (world.search(name, query) for query in ("heron", "egret"))
    assert len(site.asked) == 1 and first.outcome is second.outcome is Outcome.BLOCKED
    assert "again in" in second.detail and world.health[name].remaining_pause() > 0


def test_of_all_runs_one_asks_an_engine_again_that_did_not_answer(
    live_world: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One probe a minute (trust case S5.4), however many runs wait for the end of the pause."""
    now = [1000.0]
    monkeypatch.setattr("agent.web.world.time", SimpleNamespace(monotonic=lambda: now[0]))
    with Site({"/search": reply({}, 500)}) as site:
        world = live_world(**point_at(site, "openalex"))
        world.search("openalex", "heron")
        now[0] += 61
        asked_meanwhile: list[Outcome] = []
        site.pages["/search"] = lambda _: (
            asked_meanwhile.append(world.search("openalex", "another run").outcome) or reply({}, 500)
        )
        assert world.search("openalex", "heron").outcome is Outcome.ERROR
        assert asked_meanwhile == [Outcome.ERROR] and len(site.asked) == 2
        now[0] += 59
        assert "again in 1 s" in world.search("openalex", "heron").detail and len(site.asked) == 2


def test_a_check_tries_a_blocked_engine_again(live_world: Live) -> None:
    answers = iter([reply({}, 401), reply(ANSWERS["openalex"])])
    with Site({"/search": lambda _: next(answers)}) as site:
        world = live_world(**point_at(site, "openalex"))
        assert [world.check("openalex").outcome for _ in range(2)] == [Outcome.BLOCKED, Outcome.OK]
    assert (
        world.health["openalex"].outcome is Outcome.OK and "just now" in world.health["openalex"].description
    )


def test_where_too_many_requests_are_forbidden_the_engine_pauses(live_world: Live) -> None:
    result, _ = ask(live_world, "openalex", reply({}, 403))
    assert result.outcome is Outcome.RATE_LIMITED


def test_a_server_that_stalls_is_a_timeout(live_world: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_api, "ENGINE", replace(http_api.ENGINE, seconds=0.3))
    result, _ = ask(live_world, "openalex", Reply(200, b"{", ends="stalls"))
    assert result.outcome is Outcome.TIMEOUT


def test_an_answer_that_is_too_long_or_nests_too_deep_is_an_error(
    live_world: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    result, _ = ask(live_world, "openalex", reply("[" * 200_000))
    assert result.outcome is Outcome.ERROR
    monkeypatch.setattr(http_api, "ENGINE", replace(http_api.ENGINE, max_bytes=1000))
    result, _ = ask(live_world, "openalex", reply({**ANSWERS["openalex"], "meta": "x" * 300_000}))
    assert result.outcome is Outcome.ERROR and "larger than 0.001 MB" in result.detail


def test_only_a_host_that_a_setting_names_may_be_on_the_own_network(live_world: Live) -> None:
    with Site({}) as site:
        port = site.url("").rpartition(":")[2]
        for url in (f"http://localhost:{port}/search", f"http://127.0.0.1:{port}/search"):
            world = live_world(ENGINE_URLS=f"openalex={url}")
            assert world.search("openalex", "heron").outcome is not Outcome.REFUSED
        engine = live_world()._engines_by_name["openalex"]
        engine.url = site.url("/search")  # type: ignore[attr-defined]
        refused = engine.search("heron", 3, http_api.SourceFilter())
    assert refused.outcome is Outcome.REFUSED and "127.0.0.1" not in refused.detail


def test_requests_keep_the_gap_that_a_service_asks_for(
    live_world: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    passes = SimpleNamespace(monotonic=lambda: now[0], sleep=lambda s: now.__setitem__(0, now[0] + s))
    monkeypatch.setattr("agent.web.rate_limit.time", passes)
    with Site({"/search": reply(ANSWERS["arxiv"])}) as site:
        world = live_world(**point_at(site, "arxiv"))
        for query in ("heron", "egret", "stork"):
            world.search("arxiv", query)
    assert len(site.asked) == 3 and now[0] >= 6.0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["openalex", "searxng", "google"])
@pytest.mark.parametrize("ends", ["stalls", "drips", "drips headers"])
def test_a_stop_ends_a_search_with_its_thread(live_world: Live, name: str, ends: Any) -> None:
    def stop_when_asked() -> None:
        if site.asked:
            raise StopRequested

    slow = Reply(200, b"{", ends=ends)
    with Site(dict.fromkeys(("/search", "/customsearch/v1"), slow)) as site:
        google = {"GOOGLE_API_KEY": "k", "GOOGLE_CSE_ID": "c", "GOOGLE_ENDPOINT": site.url("/")}
        world = live_world(**(google if name == "google" else point_at(site, name)))
        with pytest.raises(StopRequested):
            world.search(name, "heron", checkpoint=stop_when_asked)
        assert not [thread.name for thread in threading.enumerate() if thread.name == "touchstone-patience"]


def test_a_stop_ends_the_search_for_an_open_copy(live_world: Live) -> None:
    def stop_when_asked() -> None:
        if site.asked:
            raise StopRequested

    with Site({"/10.1/x": Reply(ends="stalls")}) as site:
        world = live_world(ENGINE_URLS=f"unpaywall={site.url('')}", CONTACT_EMAIL="a@b.example")
        with pytest.raises(StopRequested):
            world.find_open_copy("10.1/x", stop_when_asked)


LONG = "a" * 100_000


def stretch(answer: Any) -> Any:
    """The same answer with every text but its addresses made absurdly long."""
    if isinstance(answer, dict):
        return {name: stretch(value) for name, value in answer.items()}
    if isinstance(answer, list):
        return [stretch(value) for value in answer]
    return f"{answer} {LONG}" if isinstance(answer, str) and "://" not in answer else answer


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("semanticscholar", '{"data":[{"title":"t","url":"https://a.test/","year":1e999}]}'),
        ("crossref", '{"message":{"items":[{"URL":"https://a.test/","issued":{"date-parts":[[1e999]]}}]}}'),
        ("europepmc", '{"resultList":{"result":[{"source":"a","id":"b","title":"t","pubYear":Infinity}]}}'),
        ("searxng", {"results": [{"url": f"https://a.test/{LONG}", "title": "t"}]}),
        ("arxiv", ANSWERS["arxiv"].replace("Herons", LONG)),
        *((name, stretch(answer)) for name, answer in ANSWERS.items()),
    ],
)
def test_every_field_of_every_engine_has_a_limit(live_world: Live, name: str, answer: object) -> None:
    tracemalloc.start()
    result, _ = ask(live_world, name, reply(answer))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert result.outcome in (Outcome.OK, Outcome.EMPTY)
    assert len(result.model_dump_json()) < 40_000 and most < 40_000_000
