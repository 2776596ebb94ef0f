"""Crossref: what publishers registered with a DOI (api.crossref.org; github.com/CrossRef/rest-api-doc)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from agent.text.json_text import parse_json
from agent.types import SourceFilter
from agent.web.engines import http_api
from agent.web.search_results import RawResult

_FIELDS = "DOI,URL,title,author,container-title,issued,license,link,abstract"


class Crossref(http_api.ApiEngine):
    """The engine."""

    name = "crossref"
    address = "https://api.crossref.org/works"

    def build_request(self, query: str, max_results: int, reach: SourceFilter) -> http_api.ApiRequest:
        """As in the base class."""
        limits = {"from-pub-date": reach.since, "until-pub-date": reach.before}
        return http_api.ApiRequest(
            {
                "query": query,
                "filter": http_api.join_filters(**limits),
                "select": _FIELDS,
                "rows": max_results,
                "mailto": self.config.CONTACT_EMAIL,
            }
        )

    def read_results(self, body: bytes) -> Iterable[RawResult]:
        """As in the base class."""
        for item in parse_json(body)["message"]["items"]:
            day = [part for part in ((item.get("issued") or {}).get("date-parts") or [[]])[0] if part]
            licence = (item.get("license") or [{}])[0].get("URL", "")
            work = http_api.build_publication(
                doi=item.get("DOI"),
                authors=map(_name_author, item.get("author") or []),
                journal=(item.get("container-title") or [""])[0],
                year=(day or [0])[0],
                licence=licence,
                pdf_url=_find_pdf(item) if "creativecommons.org" in licence else "",
            )
            when = "-".join(f"{part:02d}" for part in day) if len(day) == 3 else ""
            url, title = http_api.make_doi_url(item.get("DOI")) or item["URL"], item.get("title") or [""]
            yield RawResult(url, title[0], http_api.shorten(item.get("abstract")), when, work)


def _name_author(author: dict[str, Any]) -> str:
    """Given and family name, or the name of a group."""
    return f"{author.get('given') or ''} {author.get('family') or ''}".strip() or author.get("name") or ""


def _find_pdf(item: dict[str, Any]) -> str:
    links = {link.get("content-type"): link["URL"] for link in reversed(item.get("link") or [])}
    return str(links.get("application/pdf", ""))
