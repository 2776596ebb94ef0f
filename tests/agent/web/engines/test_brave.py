"""Brave: its header, its filters, and the age of a page."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

from agent.types import Outcome, SourceFilter
from agent.web.world import World
from tests.web.engine_answers import BRAVE, ask, reply

Live = Callable[..., World]


def test_a_hit_has_its_date(live_world: Live) -> None:
    result, _ = ask(live_world, "brave", reply(BRAVE))
    (hit,) = result.hits
    assert (hit.snippet, hit.published_at[:10]) == ("A wader.", "2024-05-02")


def test_the_key_goes_into_a_header_and_the_filters_into_the_query(live_world: Live) -> None:
    reach = SourceFilter(since="2020-01-01", before="2021-01-01", language="sv", blocked=["b.example"])
    _, site = ask(live_world, "brave", reply(BRAVE), reach=reach)
    asked = parse_qs(urlsplit(site.asked[0].path).query)
    assert site.asked[0].headers["X-Subscription-Token"] == "key-of-brave"
    assert asked["q"] == ["grey heron diet -site:b.example"] and asked["search_lang"] == ["sv"]
    assert asked["freshness"] == ["2020-01-01to2021-01-01"]


def test_a_refused_key_is_named_and_never_shown(live_world: Live) -> None:
    result, _ = ask(live_world, "brave", reply({"type": "ErrorResponse"}, 401))
    assert result.outcome is Outcome.BLOCKED and "BRAVE_API_KEY" in result.detail


def test_without_a_key_it_is_absent(live_world: Live) -> None:
    assert "BRAVE_API_KEY" in live_world().absent["brave"]
