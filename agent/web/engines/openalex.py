"""OpenAlex: a catalogue of scholarly works (developers.openalex.org/api-reference/works)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agent.types import SourceFilter
from agent.web.engines.http_api import ApiEngine, ApiRequest, build_publication, join_filters, shorten
from agent.web.extract.page_dates import normalize_date
from agent.web.search_results import RawResult

_FIELDS = "id,doi,display_name,publication_date,publication_year,authorships,primary_location,"
_FIELDS += "best_oa_location,abstract_inverted_index"


class OpenAlex(ApiEngine):
    """The engine."""

    name = "openalex"
    address = "https://api.openalex.org/works"
    limited = (403, 429)
    """Its documentation gives both for too many requests."""

    def build_request(self, query: str, max_results: int, reach: SourceFilter) -> ApiRequest:
        """As in the base class."""
        return ApiRequest(
            {
                "search": query,
                "filter": join_filters(
                    from_publication_date=reach.since,
                    to_publication_date=reach.before,
                    language=reach.language,
                ),
                "select": _FIELDS,
                "per_page": max_results,
                "mailto": self.config.CONTACT_EMAIL,
                "api_key": self.config.OPENALEX_API_KEY,
            }
        )

    def read_results(self, body: bytes) -> Iterable[RawResult]:
        """As in the base class."""
        for item in json.loads(body)["results"]:
            first, free = item.get("primary_location") or {}, item.get("best_oa_location") or {}
            work = build_publication(
                doi=item.get("doi"),
                authors=[one["author"].get("display_name") for one in item.get("authorships") or []],
                journal=(first.get("source") or {}).get("display_name"),
                year=item.get("publication_year"),
                licence=free.get("license") or first.get("license"),
                pdf_url=free.get("pdf_url"),
            )
            url = first.get("landing_page_url") or item.get("doi") or item["id"]
            text = shorten(_join_abstract(item.get("abstract_inverted_index") or {}))
            published = normalize_date(item.get("publication_date") or "")
            yield RawResult(url, item.get("display_name") or "", text, published, work)


def _join_abstract(positions: Mapping[str, Sequence[Any]]) -> str:
    """An abstract from its words and the places where each stands."""
    placed = sorted((place, word) for word, places in positions.items() for place in places)
    return " ".join(word for _, word in placed)
