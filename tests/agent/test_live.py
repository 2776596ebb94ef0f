"""The live world from end to end on this machine: a search page that speaks DuckDuckGo's HTML, a real site,
and a whole run over both."""

from __future__ import annotations

import pytest

from agent import config
from agent.types import Outcome, Settings, Status
from agent.workbench import Workbench
from tests.web.site import Asked, Reply, Site, html

LIVE = Settings(world="live", model="keyless", max_steps=6)
PARAGRAPH = "<p>The Hollin lighthouse stands on the northern skerry. It was lit for the first time in 1897 by the keeper Ansa Brorsen.</p>"


def results(*found: tuple[str, str, str]) -> Reply:
    """A page of results as the engine's own page has them."""
    rows = "".join(
        f'<div class="body"><h2>{title}</h2><a href="{url}">{snippet}</a></div>'
        for url, title, snippet in found
    )
    return html(f"<html><body><div id='links'>{rows}</div></body></html>")


@pytest.fixture
def site():
    pages = {
        "/hollin": html(
            f"<html><head><title>Hollin lighthouse</title></head><body><nav>Home</nav>"
            f"<article><h1>Hollin lighthouse</h1>{PARAGRAPH * 3}</article></body></html>"
        ),
        "/closed": html("<h1>Forbidden</h1>", 403),
    }
    with Site(pages) as running:
        running.pages["/html/"] = lambda asked: results(
            (running.url("/closed"), "Hollin archive", "The lighthouse of Hollin, when it was lit"),
            (running.url("/hollin"), "Hollin lighthouse", "Hollin lighthouse was lit for the first time"),
        )
        yield running


@pytest.fixture
def bench(site):
    opened = Workbench(
        config.read_config({"DDG_ENDPOINT": site.url("/html/"), "FETCH_ALLOW": "127.0.0.1", "FETCH_GAP": "0"})
    )
    yield opened
    opened.shutdown()


def test_a_question_is_searched_read_and_answered_over_real_http(bench, site):
    run_id = bench.start("In which year was the Hollin lighthouse lit for the first time?", LIVE)
    assert bench.drive(run_id) is Status.REVIEW, bench.snapshot(run_id).run.error
    state = bench.snapshot(run_id).state
    assert "1897" in state.answer.text and state.answer.sources[0].url == site.url("/hollin")
    assert {page.url: page.outcome for page in state.pages.values()}[site.url("/hollin")] is Outcome.OK
    blocked = [page for page in state.pages.values() if page.outcome is Outcome.BLOCKED]
    assert all(page.detail for page in blocked)
    agents = {asked.headers.get("User-Agent", "") for asked in site.asked if asked.path == "/hollin"}
    assert all(agent.startswith("Touchstone/") for agent in agents)


def test_a_rate_limit_is_told_and_never_called_empty(bench, site):
    def slow_down(_: Asked) -> Reply:
        return Reply(429, b"slow down", {"Retry-After": "90"})

    site.pages["/html/"] = slow_down
    run_id = bench.start("In which year was the Hollin lighthouse lit for the first time?", LIVE)
    assert bench.drive(run_id) is Status.REVIEW
    state = bench.snapshot(run_id).state
    assert [action.outcome for action in state.actions] == [Outcome.RATE_LIMITED]
    assert "duckduckgo" in state.cooling
    assert (state.answer.verdict, state.answer.reason) == ("no_evidence", "blocked")


def test_pages_on_this_machine_are_refused_unless_allowed(site):
    bench = Workbench(config.read_config({"DDG_ENDPOINT": site.url("/html/"), "FETCH_GAP": "0"}))
    run_id = bench.start(f"What does {site.url('/hollin')} say about the lighthouse?", LIVE)
    bench.drive(run_id)
    state = bench.snapshot(run_id).state
    assert state.pages[site.url("/hollin")].outcome is Outcome.REFUSED
    assert not [asked for asked in site.asked if asked.path == "/hollin"]
    bench.shutdown()
