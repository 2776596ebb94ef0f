"""The one door: what a world is called, what it has, what it shares, how it stops."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from agent.errors import StopRequested
from agent.net.ssrf_guard import SsrfGuard
from agent.settings import config
from agent.types import ENGINE_NAMES, Outcome
from agent.web import http_outcomes
from agent.web.engines import http_api
from agent.web.extract import dispatch
from agent.web.world import World, open_world
from tests.tables import by_table
from tests.web.site import Asked, Reply, Site

TOWN = {"id": "b", "title": "Town", "url": "https://dairy.test/town", "text": "A town."}


def test_a_folder_world_says_what_it_has(folder_world: Callable[..., World]) -> None:
    world = folder_world(TOWN)
    assert not world.live and world.is_reachable() and world.title
    assert list(world.engines) == ["duckduckgo"] and "index" in world.engines["duckduckgo"]
    assert world.absent["google"]
    assert world.search("google", "x").outcome is Outcome.REFUSED
    assert world.check("duckduckgo").outcome in (Outcome.OK, Outcome.EMPTY)


def test_the_live_world_says_what_it_has() -> None:
    world = open_world("live", config.read_config({}))
    assert world.live and next(iter(world.engines)) == "duckduckgo" and "google" not in world.engines
    assert (
        open_world("live", config.read_config({"GOOGLE_API_KEY": "k", "GOOGLE_CSE_ID": "c"})).engines[
            "google"
        ]
        == "Google"
    )


@pytest.mark.slow
def test_a_stop_is_noticed_while_an_engine_dawdles(live_world: Callable[..., World]) -> None:
    begun = threading.Event()

    def slow(_asked: Asked) -> Reply:
        begun.set()
        return Reply(200, b"", ends="stalls")

    def checkpoint() -> None:
        if begun.is_set():
            raise StopRequested

    with Site({"/html/": slow}) as site, pytest.raises(StopRequested):
        live_world(DDG_ENDPOINT=site.url("/html/")).search("duckduckgo", "x", checkpoint=checkpoint)


@by_table
def test_the_network_is_tried_where_searches_go(
    live_world: Callable[..., World], settings: dict[str, str], probed: bool
) -> None:
    with Site({}) as site:
        named = {name: value.format(here=site.url("/")) for name, value in settings.items()}
        assert live_world(**named).is_reachable() is probed


def test_with_no_engine_on_nobody_is_asked_whether_there_is_a_network(
    live_world: Callable[..., World], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SsrfGuard, "connect", lambda *_: pytest.fail("it connects"))
    assert live_world(ENGINES_OFF=",".join(ENGINE_NAMES)).is_reachable()


@pytest.mark.parametrize("trouble", http_outcomes.MISREAD)
def test_whatever_reading_raises_is_an_outcome(
    live_world: Callable[..., World], monkeypatch: pytest.MonkeyPatch, trouble: type[Exception]
) -> None:
    def stumble(*_: object) -> None:
        raise trouble("stumbled")

    monkeypatch.setattr(dispatch, "extract_content", stumble)
    monkeypatch.setattr(http_api.ApiEngine, "_read_results", stumble)
    with Site({"/": Reply(200, b"{}")}) as site:
        world = live_world(ENGINE_URLS=f"wikipedia={site.url('/')}")
        page, found = world.fetch(site.url("/")), world.search("wikipedia", "x")
    assert page.outcome is found.outcome is Outcome.ERROR and page.detail and "Wikipedia" in found.detail
