"""Semantic Scholar: papers of all fields (api.semanticscholar.org/api-docs/graph, paper relevance search)."""

from __future__ import annotations

from collections.abc import Iterable

from agent.text.json_text import parse_json
from agent.types import SourceFilter
from agent.web.engines.http_api import ApiEngine, ApiRequest, build_publication, make_doi_url, shorten
from agent.web.search_results import RawResult

_FIELDS = "title,abstract,url,year,publicationDate,authors,venue,journal,externalIds,openAccessPdf"
_MAX_RESULTS = 100


class SemanticScholar(ApiEngine):
    """The engine."""

    name = "semanticscholar"
    address = "https://api.semanticscholar.org/graph/v1/paper/search"

    def build_request(self, query: str, max_results: int, reach: SourceFilter) -> ApiRequest:
        """As in the base class. Its documentation asks to write hyphens as spaces."""
        return ApiRequest(
            {
                "query": query.replace("-", " "),
                "limit": min(max_results, _MAX_RESULTS),
                "fields": _FIELDS,
                "publicationDateOrYear": f"{reach.since}:{reach.before}"
                if reach.since or reach.before
                else "",
            },
            {"x-api-key": self.key} if self.key else {},
        )

    def read_results(self, body: bytes) -> Iterable[RawResult]:
        """As in the base class; nothing found comes without `data`."""
        for item in parse_json(body).get("data") or []:
            ids, free = item.get("externalIds") or {}, item.get("openAccessPdf") or {}
            work = build_publication(
                doi=ids.get("DOI"),
                authors=[author.get("name") for author in item.get("authors") or []],
                journal=(item.get("journal") or {}).get("name") or item.get("venue"),
                year=item.get("year"),
                licence=free.get("license"),
                pdf_url=free.get("url"),
            )
            preprint = f"https://arxiv.org/abs/{ids['ArXiv']}" if ids.get("ArXiv") else ""
            url = make_doi_url(ids.get("DOI")) or preprint or item["url"]
            text, published = shorten(item.get("abstract")), item.get("publicationDate") or ""
            yield RawResult(url, item.get("title") or "", text, published, work)
