"""Each engine behind an HTTP API: what is told of a hit, what is asked, what an odd answer means.

`api_engines.jsonl`: `hits` and `parameters` name what a test looks at, of an engine's answer in
`tests/web/engine_answers.json`."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from agent.settings.config import read_config
from agent.types import ENGINES, Outcome, SourceFilter
from agent.web.engines.http_api import ApiEngine
from agent.web.world import World, build_engines
from tests.tables import by_table
from tests.web.engine_answers import ANSWERS, ask, point_at, reply
from tests.web.site import Site

Live = Callable[..., World]


@by_table
def test_a_hit_with_all_that_is_known_of_it(
    live_world: Live, engine: str, hits: list[dict[str, Any]]
) -> None:
    result, _ = ask(live_world, engine, reply(ANSWERS[engine]))
    told = [hit.model_dump(exclude_defaults=True) for hit in result.hits]
    assert [{name: hit.get(name) for name in wanted} for hit, wanted in zip(told, hits, strict=True)] == hits


@by_table
def test_what_is_asked(
    live_world: Live,
    engine: str,
    query: str,
    reach: dict[str, Any],
    parameters: dict[str, str | None],
    headers: dict[str, str],
) -> None:
    _, site = ask(live_world, engine, reply(ANSWERS[engine]), query=query, reach=SourceFilter(**reach))
    [asked] = site.asked
    sent = {name: values[0] for name, values in parse_qs(urlsplit(asked.path).query).items()}
    assert {name: sent.get(name) for name in parameters} == parameters
    assert {name: asked.headers.get(name) for name in headers} == headers
    assert not any(key in asked.path for key in headers.values())


@by_table
def test_an_odd_answer_has_its_outcome(
    live_world: Live, engine: str, status: int, answer: Any, outcome: str, says: str
) -> None:
    result, _ = ask(live_world, engine, reply(answer, status))
    assert result.outcome is Outcome(outcome) and says in result.detail


def test_tavilys_query_is_posted_with_key_and_filters(live_world: Live) -> None:
    reach = SourceFilter(
        allowed_domains=["*.birds.example"], blocked_domains=["b.example"], since="2020-01-01"
    )
    _, site = ask(live_world, "tavily", reply(ANSWERS["tavily"]), reach=reach)
    [asked] = site.asked
    assert (asked.method, asked.path) == ("POST", "/search")
    assert asked.headers["Authorization"] == "Bearer key-of-tavily"
    assert json.loads(asked.body) == {
        "query": "grey heron diet",
        "max_results": 5,
        "search_depth": "basic",
        "include_domains": ["birds.example"],
        "exclude_domains": ["b.example"],
        "start_date": "2020-01-01",
    }


def test_a_pdf_without_an_open_licence_is_not_taken_for_open(live_world: Live) -> None:
    closed = copy.deepcopy(ANSWERS["crossref"])
    closed["message"]["items"][0]["license"] = [{"URL": "https://publisher.example/terms"}]
    result, _ = ask(live_world, "crossref", reply(closed))
    assert result.hits[0].publication and result.hits[0].publication.pdf_url == ""


def test_a_feed_that_defines_entities_reads_no_file(live_world: Live) -> None:
    evil = '<!DOCTYPE feed [<!ENTITY x SYSTEM "file:///etc/hostname">]>' + ANSWERS["arxiv"].partition("?>")[
        2
    ].replace("Herons eat fish.", "&x;")
    result, _ = ask(live_world, "arxiv", reply(evil))
    assert [hit.snippet for hit in result.hits] in ([""], [])


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


def test_who_asks_a_wiki_is_named_where_an_address_is_set(live_world: Live) -> None:
    with Site({"/search": reply(ANSWERS["wikipedia"])}) as site:
        for more in ({}, {"CONTACT_EMAIL": "reader@heron.example"}):
            live_world(**point_at(site, "wikipedia"), **more).search("wikipedia", "heron")
    named = [asked.headers["User-Agent"].endswith("mailto:reader@heron.example") for asked in site.asked]
    assert named == [False, True]


def test_an_address_of_searxng_with_its_path_is_understood(live_world: Live) -> None:
    with Site({"/search": reply(ANSWERS["searxng"])}) as site:
        world = live_world(SEARXNG_URL=site.url("/search/"))
        assert world.search("searxng", "heron").outcome is Outcome.OK


def test_each_adapter_has_the_name_of_its_entry() -> None:
    every = {name: "https://x.example" for engine in ENGINES for name in engine.needs}
    engines, absent = build_engines(read_config(every))
    assert [engine.name for engine in engines] == [engine.name for engine in ENGINES] and not absent
    assert [engine.label for engine in engines] == [engine.label for engine in ENGINES]


def test_engines_without_their_key_and_those_switched_off_are_absent_and_say_why() -> None:
    engines, absent = build_engines(read_config({"ENGINES_OFF": "wikipedia, arxiv"}))
    assert absent["wikipedia"] == absent["arxiv"] == "switched off"
    assert absent["tavily"] == "no TAVILY_API_KEY set"
    assert not {"wikipedia", "arxiv", "tavily"} & {engine.name for engine in engines}
