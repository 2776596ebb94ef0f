"""How a site is read: sitemaps, robots, batches side by side, and which links are kept."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable

import pytest

from agent.errors import UsageError
from agent.flows.site.state import BY_SITEMAP
from agent.types import Outcome, Settings, SiteLimits, Status
from tests.agent.flows.site.cases import PLAIN, QUESTION, START
from tests.web.folders import page, write_world
from tests.web.site import Asked, Reply, html
from tests.web.site import Site as Server

pytestmark = pytest.mark.slow


def test_links_of_a_page_are_kept_up_to_a_limit_those_that_bear_most(ask, tmp_path):
    docs = [page(f"https://shop.example/item-{n}", f"Item {n}", f"Item {n} is blue.") for n in range(60)]
    docs.append(
        page("https://shop.example/refunds", "Refunds", "Refunds are paid within three days of the return.")
    )
    view = ask(
        "When are refunds paid?",
        "https://shop.example/",
        world=write_world(tmp_path / "w", docs),
        site=SiteLimits(max_links_per_page=5),
    )
    state = view.state
    assert len(state.own.url_graph[0]) <= 5 and "https://shop.example/refunds" in [
        state.own.all_discovered_urls[i] for i in state.own.url_graph[0]
    ]
    assert "three days" in state.answer.text


def test_allowed_domains_fence_links_and_empty_means_no_fence(ask, bench):
    inside = ask(allowed_domains=["kallsteg.example"]).state
    assert all(url.startswith(START) for url in inside.own.all_discovered_urls)
    open_ = ask(
        "Who wrote about the Kallsteg factory?",
        "https://granvattnet-courier.example/2026/08/20/kallsteg-factory",
    ).state
    assert len({url.split("/")[2] for url in open_.own.all_discovered_urls}) > 1
    with pytest.raises(UsageError, match="outside the allowed domains"):
        bench.start(
            QUESTION,
            Settings(flow="site", world="demo", start_urls=[START], allowed_domains=["other.example"]),
        )
    with pytest.raises(UsageError, match="at least one page"):
        bench.start(QUESTION, Settings(flow="site", world="demo"))
    with pytest.raises(UsageError, match="not a web address"):
        bench.start(QUESTION, Settings(flow="site", world="demo", start_urls=["kallsteg"]))


def sitemap(*urls: str, index: bool = False) -> Reply:
    kind = "sitemap" if index else "url"
    places = "".join(f"<{kind}><loc>{url}</loc></{kind}>" for url in urls)
    body = f'<?xml version="1.0"?><{"sitemapindex" if index else "urlset"}>{places}</{"sitemapindex" if index else "urlset"}>'
    return Reply(200, body.encode(), {"Content-Type": "application/xml"})


def test_robots_and_sitemaps_are_read_and_obeyed(ask):
    with Server({}) as server:
        places = (
            server.url("/help/opening-hours"),
            server.url("/secret/opening"),
            "http://192.0.2.1/opening",
        )
        packed = gzip.compress(sitemap(*places).body)
        server.pages |= {
            "/robots.txt": Reply(
                200,
                f"User-agent: *\nDisallow: /secret/\nSitemap: {server.url('/maps.xml')}\n".encode(),
                PLAIN,
            ),
            "/maps.xml": sitemap(server.url("/part.xml.gz"), index=True),
            "/part.xml.gz": Reply(200, packed, {"Content-Type": "application/gzip"}),
            "/help/opening-hours": html(
                "<h1>Opening hours</h1><p>The workshop opens at nine in the morning.</p>"
            ),
            "/secret/opening": html("<p>The workshop opens at midnight for friends.</p>"),
        }
        state = ask(
            "When does the workshop open? What are its opening hours?",
            server.url("/"),
            world="live",
            allowed_domains=["127.0.0.1"],
        ).state
        assert "nine in the morning" in state.answer.text and "midnight" not in state.answer.text
        assert state.pages[server.url("/")].outcome is Outcome.NOT_FOUND, (
            "the start page is missing: the map alone led on"
        )
        assert state.own.sitemaps[server.url("/part.xml.gz")].addresses == 3
        assert BY_SITEMAP in state.own.url_found_on.values() and not any(
            "192.0.2.1" in url for url in state.own.all_discovered_urls
        )
        assert "/secret/opening" not in server.paths()


def test_a_batch_is_asked_for_side_by_side_two_at_a_time_of_one_host(ask):
    flying, most, lock, met = [0], [0], threading.Lock(), threading.Barrier(2)

    def slow(asked: Asked) -> Reply:
        with lock:
            flying[0] += 1
            most[0] = max(most[0], flying[0])
        try:
            met.wait(10)  # each waits for a second one: alone it would never end in time
        finally:
            with lock:
                flying[0] -= 1
        return html(f"<h1>Lamp {asked.path[-1]}</h1><p>Lamp {asked.path[-1]} is green.</p>")

    with Server({"/": html("".join(f'<a href="/lamp{n}">Lamp {n}</a>' for n in range(4)))}) as server:
        server.pages |= {f"/lamp{n}": slow for n in range(4)}
        state = ask(
            "Which lamp glows purple?",
            server.url("/"),
            world="live",
            site=SiteLimits(max_urls_per_iteration=4, crawl_ahead=0),
        ).state
    assert most[0] == 2 and state.pages_read_count == 5


def test_stop_lets_go_of_a_whole_batch(bench):
    with Server({"/": html('<a href="/a-lamp">Lamp a</a><a href="/b-lamp">Lamp b</a>')}) as server:
        server.pages |= {
            "/a-lamp": Reply(200, b"<p>", {"Content-Type": "text/html"}, "stalls"),
            "/b-lamp": Reply(200, b"<p>", {}, "stalls"),
        }
        run_id = bench.start(
            "Which lamp is green?", Settings(flow="site", model="keyless", start_urls=[server.url("/")])
        )
        stopper = threading.Thread(
            target=lambda: (_until(lambda: len(server.paths()) >= 3), bench.act(run_id, "stop"))
        )
        stopper.start()
        assert bench.drive(run_id) is Status.STOPPED
        stopper.join()
    view = bench.snapshot(run_id)
    assert view.next == "crawl" and len(view.state.own.visited_urls) == 1, (
        "the batch that was let go left nothing behind"
    )


def _until(true: Callable[[], bool]) -> None:
    ready = threading.Event()
    while not true() and not ready.wait(0.02):
        pass


def test_nothing_is_read_ahead_on_other_sites(ask):
    with Server({}) as other, Server({"/pump": html("<h1>Pump</h1><p>It is red.</p>")}) as server:
        away = [other.url(f"/wall{n}").replace("127.0.0.1", "127.0.0.2") for n in range(4)]
        links = "".join(f'<a href="{url}">Wall</a>' for url in [*away, server.url("/pump")])
        server.pages["/"] = html(f"<h1>Walls</h1>{links}")
        limits = SiteLimits(max_urls_per_iteration=1, max_iterations=1)
        state = ask("What is a wall?", server.url("/"), world="live", site=limits).state
    assert [action.query_or_url for action in state.actions] == [server.url("/"), server.url("/pump")]
