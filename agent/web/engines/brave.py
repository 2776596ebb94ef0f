"""Brave's web search (api-dashboard.search.brave.com/app/documentation). Needs a key."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from agent.text.json_text import parse_json
from agent.types import SourceFilter
from agent.web import search_params
from agent.web.engines.http_api import ApiEngine, ApiRequest
from agent.web.extract.page_dates import normalize_date
from agent.web.search_results import RawResult

_MAX_RESULTS = 20


class Brave(ApiEngine):
    """The engine."""

    name = "brave"
    address = "https://api.search.brave.com/res/v1/web/search"

    def build_request(self, query: str, max_results: int, reach: SourceFilter) -> ApiRequest:
        """As in the base class."""
        last = reach.before or f"{datetime.now(UTC):%Y-%m-%d}"
        return ApiRequest(
            {
                "q": search_params.add_site_operators(query, reach),
                "count": min(max_results, _MAX_RESULTS),
                "search_lang": reach.language,
                "freshness": f"{reach.since}to{last}" if reach.since else "",
                "text_decorations": "false",
            },
            {"X-Subscription-Token": self.key, "Accept": "application/json"},
        )

    def read_results(self, body: bytes) -> Iterable[RawResult]:
        """As in the base class; nothing found comes without `web`."""
        for item in (parse_json(body).get("web") or {}).get("results") or []:
            published = normalize_date(item.get("page_age") or "")
            yield RawResult(item["url"], item.get("title") or "", item.get("description") or "", published)
