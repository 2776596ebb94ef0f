"""DuckDuckGo through ddgs against a server on this machine: nothing found and go away are never the same."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from urllib.parse import parse_qs

import pytest

from agent.types import Outcome, SourceFilter
from agent.web.world import World
from tests.web.site import Reply, Site, html

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
    reach = SourceFilter(allowed=["dairy.example.com"], since=f"{datetime.now(UTC):%Y-%m-%d}", language="sv")
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


def test_an_engine_that_asks_for_a_pause_gets_it(live_world: Live) -> None:
    with Site({"/html/": html("", 429, Retry_After="40")}) as site:
        world = live_world(DDG_ENDPOINT=site.url("/html/"))
        first, second = world.search("duckduckgo", "a"), world.search("duckduckgo", "b")
        assert first.retry_after_s == 40
        assert (
            second.outcome is Outcome.RATE_LIMITED
            and second.retry_after_s
            and 30 < second.retry_after_s <= 40
        )
        assert len(site.asked) == 1


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
