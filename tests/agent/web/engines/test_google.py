"""Google's custom search through its own client against a server on this machine. The key is never shown."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from agent.types import Outcome, SearchResult, SourceFilter
from agent.web.world import World
from tests.tables import by_table
from tests.web.site import Reply, Site, sends_to

KEY = "not-a-real-key-123"
Live = Callable[..., World]


def reply(status: int, body: object, **headers: str) -> Reply:
    return Reply(status, json.dumps(body).encode(), {"Content-Type": "application/json", **headers})


def failure(status: int, reason: str, **headers: str) -> Reply:
    return reply(
        status,
        {"error": {"code": status, "message": f"key={KEY}", "errors": [{"reason": reason}]}},
        **headers,
    )


def search(live_world: Live, page: Reply) -> tuple[SearchResult, Site]:
    with Site({"/customsearch/v1": page}) as site:
        world = live_world(GOOGLE_API_KEY=KEY, GOOGLE_CSE_ID="cx1", GOOGLE_ENDPOINT=site.url("/"))
        return world.search("google", "ostrava dairy", max_results=5), site


def test_hits(live_world: Live) -> None:
    items = [
        {"link": "https://dairy.example.com/", "title": "Dairy", "snippet": "Founded <b>1921</b>"},
        {"title": "no link"},
    ]
    result, site = search(live_world, reply(200, {"items": items}))
    assert result.outcome is Outcome.OK
    assert [(hit.url, hit.title, hit.snippet, hit.engine) for hit in result.hits] == [
        ("https://dairy.example.com/", "Dairy", "Founded 1921", "google")
    ]
    assert "q=ostrava+dairy" in site.asked[0].path and "cx=cx1" in site.asked[0].path
    assert "num=5" in site.asked[0].path


def test_time_and_language_are_asked_for_and_a_date_is_told(live_world: Live) -> None:
    item = {
        "link": "https://dairy.example.com/",
        "pagemap": {"metatags": [{"article:published_time": "2019-03-02T10:00:00+00:00"}]},
    }
    with Site({"/customsearch/v1": reply(200, {"items": [item]})}) as site:
        world = live_world(GOOGLE_API_KEY=KEY, GOOGLE_CSE_ID="cx1", GOOGLE_ENDPOINT=site.url("/"))
        result = world.search(
            "google",
            "ost",
            reach=SourceFilter(since="2020-01-01", language="zh", blocked_domains=["b.example"]),
        )
    assert result.hits[0].published_at == "2019-03-02T10:00:00Z"
    asked = site.asked[0].path
    assert "dateRestrict=d" in asked and "lr=lang_zh-CN" in asked and "q=ost+-site%3Ab.example" in asked


@pytest.mark.parametrize(
    ("page", "outcome"),
    [
        (reply(200, {"searchInformation": {"totalResults": "0"}}), Outcome.EMPTY),
        (failure(429, "rateLimitExceeded"), Outcome.RATE_LIMITED),
        (failure(403, "dailyLimitExceeded"), Outcome.RATE_LIMITED),
        (failure(403, "accessNotConfigured"), Outcome.BLOCKED),
        (failure(400, "keyInvalid"), Outcome.BLOCKED),
        (failure(500, "backendError"), Outcome.ERROR),
        (Reply(200, b"<html>not json", {"Content-Type": "text/html"}), Outcome.ERROR),
    ],
)
def test_outcomes(live_world: Live, page: Reply, outcome: Outcome) -> None:
    result, site = search(live_world, page)
    assert (result.outcome, len(site.asked)) == (outcome, 1)
    assert result.detail and KEY not in result.detail
    assert (result.retry_after_s is not None) is (outcome is Outcome.RATE_LIMITED)


def test_retry_after_is_taken_at_its_word(live_world: Live) -> None:
    result, _ = search(live_world, failure(429, "rateLimitExceeded", **{"Retry-After": "77"}))
    assert result.retry_after_s == 77


def test_without_keys_it_is_absent_and_says_why(live_world: Live) -> None:
    world = live_world(GOOGLE_API_KEY=KEY)
    assert "google" not in world.engines
    assert "GOOGLE_CSE_ID" in world.absent["google"]
    result = world.search("google", "x")
    assert result.outcome is Outcome.REFUSED and "GOOGLE_CSE_ID" in result.detail


def test_a_redirect_is_not_followed(live_world: Live) -> None:
    with Site(
        {"/inner": reply(200, {"items": [{"link": "https://a.example/", "title": "inner secret"}]})}
    ) as inner:
        result, _ = search(live_world, sends_to(inner.url("/inner")))
    assert result.outcome is Outcome.ERROR and not result.hits and inner.asked == []


def test_an_endpoint_that_nobody_named_is_public(live_world: Live) -> None:
    with Site({}) as site:
        engine = live_world(GOOGLE_API_KEY=KEY, GOOGLE_CSE_ID="cx1")._engines_by_name["google"]
        engine._endpoint = site.url("/")  # type: ignore[attr-defined]
        assert engine.search("ferry", 3, SourceFilter()).outcome is Outcome.REFUSED and site.asked == []


@by_table
def test_results_of_another_shape_are_an_error(live_world: Live, answer: object) -> None:
    result, _ = search(live_world, reply(200, answer))
    assert result.outcome is Outcome.ERROR and "could not be understood" in result.detail
