"""Wikipedia through MediaWiki's search (www.mediawiki.org/wiki/API:Search), in the language of the run.

The same request asks for the site's article path and licence (API:Siteinfo)."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote, urljoin

from agent.config import USER_AGENT
from agent.text.json_text import parse_json
from agent.types import Outcome, SourceFilter
from agent.web.engines.http_api import ApiEngine, ApiError, ApiRequest, build_publication
from agent.web.search_results import MAX_CHARACTERS, RawResult

MAX_RESULTS = 50


class Wikipedia(ApiEngine):
    """The engine."""

    name = "wikipedia"
    address = "https://{language}.wikipedia.org/w/api.php"

    def locate(self, reach: SourceFilter) -> str:
        """The wiki of the run's language, else of the searches' region."""
        return self.url.replace("{language}", reach.language or self.config.SEARCH_REGION.rpartition("-")[2])

    def build_request(self, query: str, max_results: int, reach: SourceFilter) -> ApiRequest:
        """As in the base class; it knows no date of publication."""
        mail = self.config.CONTACT_EMAIL  # its rules ask who asks to name an address
        return ApiRequest(
            {
                "action": "query",
                "list": "search",
                "srsearch": query,
                "srlimit": min(max_results, MAX_RESULTS),
                "srprop": "snippet",
                "meta": "siteinfo",
                "siprop": "general|rightsinfo",
                "format": "json",
                "formatversion": 2,
            },
            {"User-Agent": f"{USER_AGENT} mailto:{mail}"} if mail else {},
        )

    def read_results(self, body: bytes) -> Iterable[RawResult]:
        """As in the base class."""
        answer = parse_json(body)
        if "error" in answer:
            limited = answer["error"].get("code") == "ratelimited"
            outcome = Outcome.RATE_LIMITED if limited else Outcome.ERROR
            raise ApiError("Wikipedia refuses the search.", outcome)
        site = answer["query"]["general"]
        base = urljoin("https://en.wikipedia.org", site["server"])
        work = build_publication(licence=answer["query"].get("rightsinfo", {}).get("text"))
        for item in answer["query"]["search"]:
            name = quote(item["title"][:MAX_CHARACTERS].replace(" ", "_"), safe="/:,()'")
            path = site["articlepath"].replace("$1", name, 1)
            yield RawResult(f"{base}{path}", item["title"], item.get("snippet") or "", publication=work)
