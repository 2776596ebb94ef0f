"""Tavily: a web search made for programs (docs.tavily.com, "Search"). Needs a key."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from agent.text.json_text import parse_json
from agent.types import SourceFilter
from agent.web.engines.http_api import ApiEngine, ApiRequest, shorten
from agent.web.extract.page_dates import normalize_date
from agent.web.search_results import RawResult

_MAX_RESULTS = 20


class Tavily(ApiEngine):
    """The engine."""

    name = "tavily"
    address = "https://api.tavily.com/search"
    limited = (429, 432, 433)
    """Too many requests; the plan's or the paid allowance is used up."""

    def build_request(self, query: str, max_results: int, reach: SourceFilter) -> ApiRequest:
        """As in the base class."""
        asked: dict[str, Any] = {
            "query": query,
            "max_results": min(max_results, _MAX_RESULTS),
            "search_depth": "basic",
            "include_domains": [name.removeprefix("*.") for name in reach.allowed],
            "exclude_domains": [name.removeprefix("*.") for name in reach.blocked],
            "start_date": reach.since,
            "end_date": reach.before,
        }
        key = {"Authorization": f"Bearer {self.key}"}
        return ApiRequest({}, key, {name: value for name, value in asked.items() if value})

    def read_results(self, body: bytes) -> Iterable[RawResult]:
        """As in the base class."""
        for item in parse_json(body)["results"]:
            published = normalize_date(item.get("published_date") or "")
            yield RawResult(item["url"], item.get("title") or "", shorten(item.get("content")), published)
