"""DuckDuckGo through ddgs against a server on this machine: nothing found and go away are never the same."""

from __future__ import annotations

import io
import json
import subprocess
import threading
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime
from urllib.parse import parse_qs

import pytest

from agent.errors import StopRequested
from agent.types import Outcome, SourceFilter
from agent.web import parser_process, world
from agent.web.engines import ddgs_search, duckduckgo
from agent.web.engines.ddgs_search import BackendReply
from agent.web.parser_pool import ParserLimits, ParserPool
from agent.web.world import World
from tests.web.site import Reply, Site, html, sends_to

RESULT = '<div class="body"><h2>{title}</h2><a href="{url}">{text}</a></div>'
FOUND = html(
    "<html><body>"
    + RESULT.format(
        title="The <b>dairy</b>", url="https://dairy.example.com/a", text="Founded in 1921 &amp; sold"
    )
    + RESULT.format(title="Advert", url="https://duckduckgo.com/y.js?ad=1", text="Buy")
    + RESULT.format(title="Again", url="https://dairy.example.com/a#x", text="Same page")
    + RESULT.format(title="Town", url="https://town.example.com/", text="A town")
    + "</body></html>"
)
NOTHING = html('<html><body><div class="no-results">No  results found for <b>zq</b>.</div></body></html>')
CHALLENGE = html(
    '<html><body><div class="anomaly-modal">Unfortunately, bots use DuckDuckGo too. No results.</div></body></html>'
)
Live = Callable[..., World]


def pool() -> ParserPool:
    return duckduckgo.share_processes(4)


def test_hits_come_in_order_without_adverts_and_doubles(live_world: Live) -> None:
    with Site({"/html/": FOUND}) as site:
        result = live_world(DDG_ENDPOINT=site.url("/html/"), SEARCH_REGION="de-de").search(
            "duckduckgo", "ostrava dairy"
        )
        assert result.outcome is Outcome.OK
        assert [(hit.rank, hit.url, hit.title) for hit in result.hits] == [
            (1, "https://dairy.example.com/a", "The dairy"),
            (2, "https://town.example.com/", "Town"),
        ]
        assert result.hits[0].snippet == "Founded in 1921 & sold"
        sent = parse_qs(site.asked[0].body.decode())
        assert (sent["q"], sent["l"]) == (["ostrava dairy"], ["de-de"])


def test_the_chosen_sources_are_told_as_far_as_it_understands(live_world: Live) -> None:
    reach = SourceFilter(
        allowed_domains=["dairy.example.com"], since=f"{datetime.now(UTC):%Y-%m-%d}", language="sv"
    )
    with Site({"/html/": FOUND}) as site:
        live_world(DDG_ENDPOINT=site.url("/html/")).search("duckduckgo", "ost", reach=reach)
        sent = parse_qs(site.asked[0].body.decode())
        assert (sent["q"], sent["l"], sent["df"]) == (["ost site:dairy.example.com"], ["se-sv"], ["d"])


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (NOTHING, Outcome.EMPTY),
        (CHALLENGE, Outcome.BLOCKED),
        (html("<html><body>Something else</body></html>"), Outcome.BLOCKED),
        (html(""), Outcome.BLOCKED),
        (html("<!-- nothing but a remark -->"), Outcome.BLOCKED),
        (html('<?xml version="1.0" encoding="utf-16"?><a/>'), Outcome.BLOCKED),
        (html("", 403), Outcome.BLOCKED),
        (html("", 429), Outcome.RATE_LIMITED),
        (html("<p>wait</p>", 202), Outcome.RATE_LIMITED),
        (html("", 500), Outcome.ERROR),
    ],
)
def test_nothing_found_is_not_go_away(live_world: Live, reply: Reply, outcome: Outcome) -> None:
    with Site({"/html/": reply}) as site:
        result = live_world(DDG_ENDPOINT=site.url("/html/")).search("duckduckgo", "zq")
        assert (result.outcome, result.hits) == (outcome, [])
        assert result.detail
        assert (result.retry_after_s is not None) is (outcome is Outcome.RATE_LIMITED)


def test_nobody_there_is_an_error(live_world: Live) -> None:
    with Site({}) as site:
        gone = site.url("/html/")
    assert live_world(DDG_ENDPOINT=gone).search("duckduckgo", "a").outcome is Outcome.ERROR


def test_an_unknown_backend_is_named(live_world: Live) -> None:
    result = live_world(DDG_BACKEND="altavista").search("duckduckgo", "a")
    assert result.outcome is Outcome.REFUSED and "altavista" in result.detail


def test_the_check_is_a_real_search(live_world: Live) -> None:
    with Site({"/html/": FOUND}) as site:
        world = live_world(DDG_ENDPOINT=site.url("/html/"))
        assert world.check("duckduckgo").outcome is Outcome.OK
        assert world.is_reachable()
    assert not world.is_reachable()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_to_another_server_is_not_followed(live_world: Live, status: int, host: str) -> None:
    with Site({"/": FOUND}) as inner:
        away = sends_to(inner.url().replace("127.0.0.1", host), status)
        with Site({"/html/": away}) as site:
            result = live_world(DDG_ENDPOINT=site.url("/html/")).search("duckduckgo", "a")
        assert (result.outcome, result.hits, inner.asked) == (Outcome.BLOCKED, [], [])
        assert ("not followed" if host == "127.0.0.1" else "not fetched") in result.detail


@pytest.mark.slow
def test_an_answer_that_takes_too_long_to_read_ends_at_the_limit_and_the_next_one_is_read(
    live_world: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = html("<a " + " ".join(f"a{n}=1" for n in range(120_000)) + ">x</a>")
    monkeypatch.setattr(pool(), "limits", ParserLimits(seconds=1, megabytes=300))
    with Site({"/slow/": slow, "/html/": FOUND}) as site:
        result = live_world(DDG_ENDPOINT=site.url("/slow/")).search("duckduckgo", "a")
        assert result.outcome in (Outcome.ERROR, Outcome.TIMEOUT) and "time" in result.detail
        assert live_world(DDG_ENDPOINT=site.url("/html/")).search("duckduckgo", "a").hits


@pytest.mark.slow
def test_a_stop_ends_the_process_of_a_search(live_world: Live) -> None:
    with Site({"/html/": Reply(ends="stalls")}) as site:

        def stop_when_asked() -> None:
            if site.asked:
                raise StopRequested

        with pytest.raises(StopRequested):
            live_world(DDG_ENDPOINT=site.url("/html/")).search("duckduckgo", "a", checkpoint=stop_when_asked)
        while pool()._busy:
            threading.Event().wait(0.01)
        assert not pool()._idle


def test_a_process_that_cannot_start_is_told(live_world: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_args: object, **_more: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    pool().close()
    monkeypatch.setattr(subprocess, "Popen", refuse)
    result = live_world(DDG_ENDPOINT="http://127.0.0.1:9/").search("duckduckgo", "a")
    assert result.outcome is Outcome.ERROR and "Resource temporarily unavailable" in result.detail


def test_when_all_processes_are_busy_no_tunnel_is_opened_and_nobody_else_is_told_to_wait(
    live_world: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(world, "SEARCH_SECONDS", 0.3)
    monkeypatch.setattr(duckduckgo, "Tunnel", None)
    searching = live_world(DDG_ENDPOINT="http://127.0.0.1:9/")
    with ExitStack() as places:
        for _ in range(4):
            places.enter_context(pool().hold_place(lambda: pytest.fail("there are four places")))
        result = searching.search("duckduckgo", "a")
    assert result.outcome is Outcome.TIMEOUT and "busy" in result.detail and result.retry_after_s == 0
    assert not searching.health


@pytest.mark.slow
def test_an_answer_that_needs_too_much_memory_is_told(live_world: Live) -> None:
    with Site({"/html/": html("<p>" * 1_660_000)}) as site:
        result = live_world(DDG_ENDPOINT=site.url("/html/")).search("duckduckgo", "a")
    assert result.outcome is Outcome.BLOCKED and "too large to read" in result.detail


def test_a_lack_of_memory_outside_of_the_parser_is_told_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **_more: object) -> None:
        raise MemoryError

    monkeypatch.setattr(ddgs_search, "search_backend", fail)
    monkeypatch.setattr(parser_process, "resource", None)
    head, replies = (
        json.dumps({"kind": "search", "seconds": 5, "about": {}, "size": 1}).encode(),
        io.BytesIO(),
    )
    parser_process.serve(io.BytesIO(head + b"\na"), replies)
    assert parser_process.READING.validate_json(replies.getvalue()) == BackendReply(is_too_large=True)
