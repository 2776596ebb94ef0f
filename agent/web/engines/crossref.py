"""Crossref: what publishers registered with a DOI (api.crossref.org; github.com/CrossRef/rest-api-doc)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from agent.types import SourceFilter
from agent.web.engines.http_api import (
    ApiEngine,
    ApiRequest,
    build_publication,
    join_filters,
    make_doi_url,
    shorten,
)
from agent.web.search_results import RawResult

_FIELDS = "DOI,URL,title,author,container-title,issued,license,link,abstract"


class Crossref(ApiEngine):
    """The engine."""

    name = "crossref"
    address = "https://api.crossref.org/works"

    def build_request(self, query: str, max_results: int, reach: SourceFilter) -> ApiRequest:
        """As in the base class."""
        return ApiRequest(
            {
                "query": query,
                "filter": join_filters(**{"from-pub-date": reach.since, "until-pub-date": reach.before}),
                "select": _FIELDS,
                "rows": max_results,
                "mailto": self.config.CONTACT_EMAIL,
            }
        )

    def read_results(self, body: bytes) -> Iterable[RawResult]:
        """As in the base class."""
        for item in json.loads(body)["message"]["items"]:
            day = [part for part in ((item.get("issued") or {}).get("date-parts") or [[]])[0] if part]
            licence = next((one.get("URL", "") for one in item.get("license") or []), "")
            work = build_publication(
                doi=item.get("DOI"),
                authors=map(_name_author, item.get("author") or []),
                journal=next(iter(item.get("container-title") or []), ""),
                year=next(iter(day), 0),
                licence=licence,
                pdf_url=_find_pdf(item) if "creativecommons.org" in licence else "",
            )
            published = f"{day[0]:04d}-{day[1]:02d}-{day[2]:02d}" if len(day) == 3 else ""
            title = next(iter(item.get("title") or []), "")
            url = make_doi_url(item.get("DOI")) or item["URL"]
            yield RawResult(url, title, shorten(item.get("abstract")), published, work)


def _name_author(author: dict[str, Any]) -> str:
    """ "Given Family", or the name of a group."""
    return f"{author.get('given') or ''} {author.get('family') or ''}".strip() or author.get("name") or ""


def _find_pdf(item: dict[str, Any]) -> str:
    links = item.get("link") or []
    return next((link["URL"] for link in links if link.get("content-type") == "application/pdf"), "")
