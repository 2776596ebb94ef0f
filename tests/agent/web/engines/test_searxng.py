"""SearXNG: its own silence is no "nothing found", and its filters."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

from agent.types import Outcome, SourceFilter
from agent.web.world import World
from tests.web.engine_answers import SEARXNG, ask, reply
from tests.web.site import Site

Live = Callable[..., World]


def test_hits_have_dates_and_what_is_known_of_papers(live_world: Live) -> None:
    result, site = ask(live_world, "searxng", reply(SEARXNG))
    page, paper = result.hits
    assert (page.published_at[:10], page.publication) == ("2024-05-02", None)
    assert paper.publication and (paper.publication.journal, paper.publication.authors) == (
        "Waders",
        ["Ana Field"],
    )
    assert parse_qs(urlsplit(site.asked[0].path).query)["format"] == ["json"]


def test_engines_that_do_not_answer_it_make_it_blocked(live_world: Live) -> None:
    result, _ = ask(live_world, "searxng", reply({**SEARXNG, "results": []}))
    assert result.outcome is Outcome.BLOCKED and "google" in result.detail


def test_a_server_that_gives_no_json_is_told_how_to(live_world: Live) -> None:
    result, _ = ask(live_world, "searxng", reply("Forbidden", 403))
    assert result.outcome is Outcome.BLOCKED and "search.formats" in result.detail


def test_domains_language_and_time_are_asked_for(live_world: Live) -> None:
    reach = SourceFilter(allowed=["birds.example"], language="sv", since="2020-01-01")
    _, site = ask(live_world, "searxng", reply(SEARXNG), reach=reach)
    asked = parse_qs(urlsplit(site.asked[0].path).query)
    assert asked["q"] == ["grey heron diet site:birds.example"] and asked["language"] == ["sv"]
    assert "time_range" not in asked, "it has no range that long"


def test_without_an_address_it_is_absent(live_world: Live) -> None:
    assert "SEARXNG_URL" in live_world().absent["searxng"]


def test_an_address_with_its_path_is_understood(live_world: Live) -> None:
    with Site({"/search": reply(SEARXNG)}) as site:
        assert live_world(SEARXNG_URL=site.url("/search/")).search("searxng", "heron").outcome is Outcome.OK
