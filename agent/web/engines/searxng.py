"""SearXNG: an operator's own server that asks several engines (docs.searxng.org/dev/search_api.html).

Its answer names the engines that did not answer it; without a result these make it `blocked`, not `empty`."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from agent.config import Config
from agent.text.json_text import parse_json
from agent.types import Outcome, SourceFilter
from agent.web import search_params
from agent.web.engines.http_api import ApiClient, ApiEngine, ApiError, ApiRequest, build_publication, shorten
from agent.web.extract.page_dates import normalize_date
from agent.web.search_results import RawResult

_TIME_RANGES = {"d": "day", "w": "month", "m": "month", "y": "year"}
"""Its time ranges for DuckDuckGo's; it documents no week."""


class SearXNG(ApiEngine):
    """The engine."""

    name = "searxng"
    address = ""
    blocked_advice = "Add json to search.formats in its settings.yml, and check its limiter."

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.url = f"{config.SEARXNG_URL.rstrip('/').removesuffix('/search')}/search"
        self.client = ApiClient([urlsplit(self.url).hostname or ""])

    def build_request(self, query: str, max_results: int, reach: SourceFilter) -> ApiRequest:
        """As in the base class; it has no limit of results."""
        return ApiRequest(
            {
                "q": search_params.add_site_operators(query, reach),
                "format": "json",
                "language": reach.language,
                "time_range": _TIME_RANGES.get(search_params.time_limit(reach) or "", ""),
            }
        )

    def read_results(self, body: bytes) -> Iterable[RawResult]:
        """As in the base class."""
        answer = parse_json(body)
        silent = [str(entry[0]) for entry in answer.get("unresponsive_engines") or []]
        if not answer["results"] and silent:
            detail = f"The engines that SearXNG asks did not answer it: {', '.join(silent)[:200]}."
            raise ApiError(f"{detail} Use another engine, or try later.", Outcome.BLOCKED)
        for item in answer["results"]:
            published = normalize_date(str(item.get("publishedDate") or ""))
            known = {name: item.get(name) for name in ("doi", "journal", "pdf_url")}
            work = build_publication(authors=item.get("authors") or [], **known)
            yield RawResult(
                item["url"], item.get("title") or "", shorten(item.get("content")), published, work
            )
