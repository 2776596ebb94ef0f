"""Fetching from a real server on this machine: what it may do, what it may not, and what a person is told."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agent.errors import StopRequested
from agent.types import Outcome, SourceFilter
from agent.web.world import World
from tests.tables import by_table
from tests.web.site import Asked, Reply, Site, html, sends_to

pytestmark = pytest.mark.slow

LONG = "<p>" + "The Ostrava dairy was founded in 1921 by two sisters. " * 10 + "</p>"
Live = Callable[..., World]


def test_a_page_comes_back_read(live_world: Live) -> None:
    with Site(
        {"/a": html(f"<html lang=en><title>Dairy</title><h1>Dairy</h1>{LONG}<a href='/b#x'>More</a>")}
    ) as site:
        page = live_world().fetch(site.url("/a"))
        assert (page.outcome, page.status, page.detail, page.title, page.language) == (
            Outcome.OK,
            200,
            "",
            "Dairy",
            "en",
        )
        assert page.final_url == site.url("/a")
        assert "founded in 1921 by two sisters." in page.text
        assert [(link.url, link.text) for link in page.links] == [(site.url("/b"), "More")]
        assert page.raw.startswith(b"<html") and len(page.sha256) == 64 and page.fetched_at.endswith("Z")


def test_it_says_who_it_is_and_brings_nothing_along(
    live_world: Live, monkeypatch: pytest.MonkeyPatch, tmp_path
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with Site({"/a": html(LONG, Set_Cookie="id=1"), "/b": html(LONG)}) as site:
        world = live_world()
        assert world.fetch(site.url("/a")).outcome is Outcome.OK
        assert world.fetch(site.url("/b")).outcome is Outcome.OK
        for asked in site.asked:
            assert asked.headers["User-Agent"].startswith("Touchstone/")
            assert asked.headers["Accept-Encoding"] == "gzip"
            assert not {"Authorization", "Cookie", "Referer"} & set(asked.headers)


def test_a_body_that_announces_itself_too_large_is_not_begun(live_world: Live) -> None:
    with Site({"/": Reply(200, b"x", {"Content-Length": "50000000"}, ends="stalls")}) as site:
        assert live_world().fetch(site.url()).outcome is Outcome.TOO_LARGE


@pytest.mark.parametrize("packing", ["br", "zstd", "deflate", "gzip, gzip"])
def test_other_packings_are_not_opened(live_world: Live, packing: str) -> None:
    with Site({"/": Reply(200, b"....", {"Content-Encoding": packing})}) as site:
        assert live_world().fetch(site.url()).outcome is Outcome.UNSUPPORTED


def test_a_refusal_in_another_packing_is_the_refusal(live_world: Live) -> None:
    packed = {"Content-Encoding": "br"}
    pages = {"/robots.txt": Reply(404, b"..", packed), "/": html("A page.")}
    pages["/busy"] = Reply(429, b"..", packed | {"Retry-After": "60"})
    with Site(pages) as site:
        assert live_world().fetch(site.url()).outcome is Outcome.OK
        assert live_world().fetch(site.url("/busy")).outcome is Outcome.RATE_LIMITED


def test_a_slow_server_is_given_up_at_the_deadline(live_world: Live) -> None:
    with Site({"/": Reply(200, b"<p>Slo", {"Content-Type": "text/html"}, ends="drips")}) as site:
        page = live_world(FETCH_TIMEOUT="0.5").fetch(site.url())
    assert page.outcome is Outcome.TIMEOUT and "longer than the time limit" in page.detail


def test_a_connection_that_breaks_off_is_an_error(live_world: Live) -> None:
    with Site({"/": Reply(200, b"<p>Half", {"Content-Type": "text/html"}, ends="breaks off")}) as site:
        page = live_world().fetch(site.url())
        assert page.outcome is Outcome.ERROR and "broke off" in page.detail


def test_nobody_listening_is_an_error(live_world: Live) -> None:
    with Site({}) as site:
        gone = site.url()
    page = live_world().fetch(gone)
    assert page.outcome is Outcome.ERROR and "did not answer" in page.detail


def test_redirects_are_followed_and_kept(live_world: Live) -> None:
    with Site({"/a": sends_to("/b", 301), "/b": sends_to("c?x=1#y", 307), "/c": html(LONG)}) as site:
        page = live_world().fetch(site.url("/a"))
        assert page.outcome is Outcome.OK
        assert (page.url, page.final_url) == (site.url("/a"), site.url("/c?x=1"))
        assert page.redirects == [site.url("/a"), site.url("/b")]


def test_a_page_that_only_sends_its_reader_on_is_a_redirect(live_world: Live) -> None:
    with Site(
        {"/a": html('<meta http-equiv="refresh" content="0; url=/b"><p>Moved.</p>'), "/b": html(LONG)}
    ) as site:
        assert live_world().fetch(site.url("/a")).final_url == site.url("/b")


def test_a_redirect_to_nothing_is_an_error(live_world: Live) -> None:
    with Site({"/": Reply(302, b"")}) as site:
        assert live_world().fetch(site.url()).outcome is Outcome.ERROR


def test_cookies_live_for_one_fetch(live_world: Live) -> None:
    def wall(asked: Asked) -> Reply:
        return html(LONG) if asked.headers.get("Cookie") == "ok=1" else Reply(302, b"", {"Location": "/set"})

    set_cookie = Reply(302, b"", {"Location": "/", "Set-Cookie": "ok=1; Path=/"})
    with Site({"/": wall, "/set": set_cookie}) as site:
        world = live_world()
        assert world.fetch(site.url()).outcome is Outcome.OK
        site.asked.clear()
        assert world.fetch(site.url()).redirects == [site.url(), site.url("/set")]


def test_a_cookie_without_a_value_comes_back_as_it_was_set(live_world: Live) -> None:
    sends_on = Reply(302, b"", {"Location": "/", "Set-Cookie": "seen; Path=/"})
    with Site({"/set": sends_on, "/": html(LONG)}) as site:
        assert live_world().fetch(site.url("/set")).outcome is Outcome.OK
        assert site.asked[-1].headers["Cookie"] == "seen"


def test_the_allowed_hosts_hold_after_redirects_too(live_world: Live) -> None:
    with Site({"/a": html(LONG), "/b": sends_to("https://elsewhere.example.com/")}) as site:
        world, here = live_world(), SourceFilter(allowed_domains=["127.0.0.1"])
        assert world.fetch(site.url("/a"), reach=here).outcome is Outcome.OK
        for page in (
            world.fetch(site.url("/b"), reach=here),
            world.fetch(site.url("/a"), reach=SourceFilter(allowed_domains=["example.com"])),
        ):
            assert page.outcome is Outcome.REFUSED and "outside the sites" in page.detail


def test_a_redirect_to_a_blocked_host_is_not_followed(live_world: Live) -> None:
    with Site({"/": html(LONG)}) as other, Site({"/a": html(LONG)}) as site:
        site.pages["/b"] = sends_to(other.url().replace("127.0.0.1", "localhost"))
        reach = SourceFilter(blocked_domains=["localhost"])
        assert live_world().fetch(site.url("/a"), reach=reach).outcome is Outcome.OK
        page = live_world(FETCH_ALLOW="127.0.0.1 localhost").fetch(site.url("/b"), reach=reach)
        assert page.outcome is Outcome.REFUSED and not other.asked


@by_table
def test_every_status_has_its_outcome_and_its_advice(
    live_world: Live, status: int, outcome: Outcome, advice: str
) -> None:
    with Site({"/": Reply(status, b"")}) as site:
        page = live_world().fetch(site.url())
        assert (page.outcome, page.status, page.text) == (outcome, status, "")
        assert advice in page.detail


def test_a_host_that_asks_for_a_long_rest_is_left_alone(live_world: Live) -> None:
    with Site({"/a": Reply(429, b"", {"Retry-After": "120"}), "/b": html(LONG)}) as site:
        world = live_world()
        page = world.fetch(site.url("/a"))
        assert page.outcome is Outcome.RATE_LIMITED and page.status == 429 and "120 s" in page.detail
        assert world.fetch(site.url("/b")).outcome is Outcome.RATE_LIMITED
        assert site.paths() == ["/a"]


def test_three_attempts_are_the_most(live_world: Live) -> None:
    with Site({"/": Reply(429, b"", {"Retry-After": "0"})}) as site:
        assert live_world().fetch(site.url()).outcome is Outcome.RATE_LIMITED
        assert site.paths() == ["/"] * 3


def test_a_checkpoint_is_asked_before_anything_goes_out(live_world: Live) -> None:
    def stop() -> None:
        raise StopRequested

    with Site({"/": html(LONG)}) as site:
        with pytest.raises(StopRequested):
            live_world().fetch(site.url(), checkpoint=stop)
        assert site.asked == []


def test_a_known_page_is_asked_for_only_if_it_changed(live_world: Live) -> None:
    def reply(asked: Asked) -> Reply:
        if asked.headers.get("If-None-Match") == '"v1"' and asked.headers.get("If-Modified-Since") == DAY:
            return Reply(304)
        return html("<h1>Mill</h1><p>The mill turns.</p>", ETag='"v1"', Last_Modified=DAY)

    with Site({"/mill": reply, "/old": sends_to("/mill")}) as site:
        first = live_world().fetch(site.url("/mill"))
        assert (first.etag, first.last_modified) == ('"v1"', DAY)
        known = first.replace(fetched_at="2020-01-01T00:00:00Z")
        for path in ("/mill", "/old"):
            again = live_world().fetch(site.url(path), known=known)
            assert again.outcome is Outcome.OK and again.text == first.text and again.url == site.url(path)
            assert again.fetched_at > known.fetched_at
        assert "If-None-Match" not in next(asked for asked in site.asked if asked.path == "/old").headers


def test_not_modified_without_a_known_page_is_an_error(live_world: Live) -> None:
    with Site({"/mill": Reply(304)}) as site:
        assert live_world().fetch(site.url("/mill")).outcome is Outcome.ERROR


DAY = "Sat, 21 Nov 2026 09:00:00 GMT"
