"""Tavily: its POST, its filters, and its allowance."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from agent.types import Outcome, SourceFilter
from agent.web.world import World
from tests.web.engine_answers import TAVILY, ask, reply

Live = Callable[..., World]


def test_the_query_is_posted_with_key_and_filters(live_world: Live) -> None:
    reach = SourceFilter(allowed=["*.birds.example"], blocked=["b.example"], since="2020-01-01")
    result, site = ask(live_world, "tavily", reply(TAVILY), reach=reach)
    (asked,) = site.asked
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
    assert result.hits[0].published_at[:10] == "2024-05-02"


@pytest.mark.parametrize("status", [432, 433])
def test_an_allowance_that_is_used_up_asks_for_a_pause(live_world: Live, status: int) -> None:
    result, _ = ask(live_world, "tavily", reply({"detail": {"error": "limit"}}, status))
    assert result.outcome is Outcome.RATE_LIMITED
