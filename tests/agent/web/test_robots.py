"""robots.txt by RFC 9309, read through the fetcher's own way."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from agent.net import exchange
from agent.types import Outcome
from agent.web import robots
from agent.web.robots import CACHE_SECONDS, FAILURE_CACHE_SECONDS, RobotsCache
from agent.web.world import World
from tests.tables import by_table
from tests.web.site import Reply, Site, html, sends_to

PAGE = html("<p>Milk.</p>")
Live = Callable[..., World]
CLOSED = b"User-agent: *\nDisallow: /\n"


def refusal(text: str, url: str = "https://a.test/private/x") -> str:
    return (
        RobotsCache().get_rules(url, lambda _url: exchange.Reply(200, {}, text.encode())).explain_refusal(url)
    )


@by_table
def test_the_rules_are_read(text: str, allowed: bool) -> None:
    assert (refusal(text) == "") is allowed


@pytest.mark.parametrize(
    ("status", "allowed"),
    [(404, True), (403, True), (401, True), (410, True), (500, False), (503, False), (302, True)],
)
def test_what_a_status_means(status: int, allowed: bool) -> None:
    assert (
        RobotsCache()
        .get_rules("https://a.test/", lambda _url: exchange.Reply(status, {}))
        .explain_refusal("https://a.test/")
        == ""
    ) is allowed


@pytest.mark.parametrize(
    ("status", "kept"), [(200, CACHE_SECONDS), (404, CACHE_SECONDS), (500, FAILURE_CACHE_SECONDS)]
)
def test_the_rules_are_kept_for_a_while(monkeypatch: pytest.MonkeyPatch, status: int, kept: float) -> None:
    now, reads = [0.0], []
    monkeypatch.setattr(robots, "time", SimpleNamespace(monotonic=lambda: now[0]))
    rules = RobotsCache()

    def read(url: str) -> exchange.Reply:
        reads.append(url)
        return exchange.Reply(status, {})

    for moment in (0.0, kept - 1, kept + 1):
        now[0] = moment
        rules.get_rules("https://a.test/page", read)
    assert reads == ["https://a.test/robots.txt"] * 2


def test_the_delay_a_site_asks_for() -> None:
    rules = RobotsCache()
    assert rules.get_crawl_delay("https://a.test/") == 0
    rules.get_rules("https://a.test/", lambda _url: exchange.Reply(200, {}, b"User-agent: *\nCrawl-delay: 7"))
    assert rules.get_crawl_delay("https://a.test/x") == 7


def test_a_page_that_is_closed_to_programs_is_not_asked_for(live_world: Live) -> None:
    with Site({"/robots.txt": Reply(200, CLOSED), "/a": PAGE}) as site:
        page = live_world().fetch(site.url("/a"))
        assert page.outcome is Outcome.REFUSED and "robots.txt" in page.detail
        assert site.paths() == []


def test_robots_are_read_once_for_all_pages_of_a_host(live_world: Live) -> None:
    with Site({"/robots.txt": Reply(200, b"User-agent: *\nAllow: /"), "/a": PAGE, "/b": PAGE}) as site:
        world = live_world()
        assert [world.fetch(site.url(path)).outcome for path in ("/a", "/b")] == [Outcome.OK] * 2
        assert [asked.path for asked in site.asked] == ["/robots.txt", "/a", "/b"]


def test_robots_hold_for_the_target_of_a_redirect(live_world: Live) -> None:
    with Site(
        {"/robots.txt": Reply(200, b"User-agent: *\nDisallow: /b"), "/a": sends_to("/b"), "/b": PAGE}
    ) as site:
        assert live_world().fetch(site.url("/a")).outcome is Outcome.REFUSED
        assert site.paths() == ["/a"]


def test_robots_behind_redirects_are_found(live_world: Live) -> None:
    with Site({"/robots.txt": sends_to("/r"), "/r": Reply(200, CLOSED), "/a": PAGE}) as site:
        assert live_world().fetch(site.url("/a")).outcome is Outcome.REFUSED


@pytest.mark.parametrize(
    ("status", "outcome"), [(500, Outcome.REFUSED), (429, Outcome.RATE_LIMITED), (403, Outcome.OK)]
)
def test_a_robots_file_that_can_not_be_had(live_world: Live, status: int, outcome: Outcome) -> None:
    with Site({"/robots.txt": Reply(status, b""), "/a": PAGE}) as site:
        page = live_world().fetch(site.url("/a"))
        assert page.outcome is outcome
        assert bool(page.detail) is (outcome is not Outcome.OK)
