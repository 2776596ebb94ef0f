"""OpenAlex: a catalogue of scholarly works (developers.openalex.org/api-reference/works)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agent.text.json_text import parse_json
from agent.types import SourceFilter
from agent.web.engines.http_api import ApiEngine, ApiRequest, build_publication, join_filters, shorten
from agent.web.extract.page_dates import normalize_date
from agent.web.search_results import RawResult

_FIELDS = "id,doi,display_name,publication_date,authorships,primary_location,best_oa_location"


class OpenAlex(ApiEngine):
    """The engine."""

    name = "openalex"
    address = "https://api.openalex.org/works"
    limited = (403, 429)  # its documentation gives both for too many requests

    def build_request(self, query: str, max_results: int, reach: SourceFilter) -> ApiRequest:
        """As in the base class."""
        first, last, tongue = reach.since, reach.before, reach.language
        return ApiRequest(
            {
                "search": query,
                "filter": join_filters(
                    from_publication_date=first, to_publication_date=last, language=tongue
                ),
                "select": f"{_FIELDS},abstract_inverted_index",
                "per_page": max_results,
                "mailto": self.config.CONTACT_EMAIL,
                "api_key": self.key,
            }
        )

    def read_results(self, body: bytes) -> Iterable[RawResult]:
        """As in the base class."""
        for item in parse_json(body)["results"]:
            first, free = item.get("primary_location") or {}, item.get("best_oa_location") or {}
            work = build_publication(
                doi=item.get("doi"),
                authors=[one["author"].get("display_name") for one in item.get("authorships") or []],
                journal=(first.get("source") or {}).get("display_name"),
                year=(item.get("publication_date") or "")[:4],
                licence=free.get("license") or first.get("license"),
                pdf_url=free.get("pdf_url"),
            )
            url = first.get("landing_page_url") or item.get("doi") or item["id"]
            text = shorten(_join_abstract(item.get("abstract_inverted_index") or {}))
            title, day = item.get("display_name") or "", normalize_date(item.get("publication_date") or "")
            yield RawResult(url, title, text, day, work)


def _join_abstract(positions: Mapping[str, Sequence[Any]]) -> str:
    """The beginning of an abstract from its words and the places where each stands."""
    return " ".join(w[:100] for _, w in sorted((n, w) for w, at in positions.items() for n in at)[:500])
