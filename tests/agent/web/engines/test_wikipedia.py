"""Wikipedia: addresses from the wiki's own article path, its licence, and its language."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agent.types import Outcome, SourceFilter
from agent.web.engines.http_api import ApiEngine
from agent.web.world import World
from tests.web.engine_answers import WIKIPEDIA, ask, point_at, reply
from tests.web.site import Site

Live = Callable[..., World]


def test_a_hit_is_the_article_with_the_wikis_licence(live_world: Live) -> None:
    result, _ = ask(live_world, "wikipedia", reply(WIKIPEDIA))
    (hit,) = result.hits
    assert hit.url == "https://en.wikipedia.org/wiki/Grey_heron_(bird)"
    assert hit.snippet == "The heron & its nest" and hit.published_at == ""
    assert hit.publication and hit.publication.licence == "Licence of Examples 4.0"


@pytest.mark.parametrize(
    ("settings", "language", "host"),
    [({}, "", "en"), ({"SEARCH_REGION": "de-de"}, "", "de"), ({}, "sv", "sv")],
)
def test_the_wiki_of_the_runs_language_is_asked(
    live_world: Live, settings: dict[str, str], language: str, host: str
) -> None:
    engine = live_world(**settings)._engines_by_name["wikipedia"]
    assert isinstance(engine, ApiEngine)
    assert engine.locate(SourceFilter(language=language)) == f"https://{host}.wikipedia.org/w/api.php"


@pytest.mark.parametrize(
    ("code", "outcome"), [("ratelimited", Outcome.RATE_LIMITED), ("badquery", Outcome.ERROR)]
)
def test_an_error_of_the_wiki_is_told(live_world: Live, code: str, outcome: Outcome) -> None:
    result, _ = ask(live_world, "wikipedia", reply({"error": {"code": code, "info": "no"}}))
    assert result.outcome is outcome


def test_who_asks_is_named_where_an_address_is_set(live_world: Live) -> None:
    with Site({"/search": reply(WIKIPEDIA)}) as site:
        for more in ({}, {"CONTACT_EMAIL": "reader@heron.example"}):
            live_world(**point_at(site, "wikipedia"), **more).search("wikipedia", "heron")
    assert [asked.headers["User-Agent"].endswith("mailto:reader@heron.example") for asked in site.asked] == [
        False,
        True,
    ]
