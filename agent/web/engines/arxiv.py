"""arXiv: preprints, as an Atom feed (info.arxiv.org/help/api/user-manual.html). Its terms ask for one request
in three seconds, one at a time (info.arxiv.org/help/api/tou.html)."""

from __future__ import annotations

from collections.abc import Iterable

from agent.text.question_analysis import extract_keywords
from agent.types import SourceFilter
from agent.web.engines.http_api import ApiEngine, ApiError, ApiRequest, build_publication, shorten
from agent.web.search_results import RawResult

_NAMES = {"a": "http://www.w3.org/2005/Atom", "x": "http://arxiv.org/schemas/atom"}
_MAX_WORDS = 8
"""Words of a query: all of them must be in the paper."""


class ArXiv(ApiEngine):
    """The engine."""

    name = "arxiv"
    address = "https://export.arxiv.org/api/query"

    def build_request(self, query: str, max_results: int, reach: SourceFilter) -> ApiRequest:
        """As in the base class; the papers with all content words of the query."""
        words = "".join(sign if sign.isalnum() else " " for sign in extract_keywords(query) or query).split()
        terms = [f"all:{word}" for word in words[:_MAX_WORDS]]
        if reach.since or reach.before:
            first, last = (reach.since or "1991-01-01"), (reach.before or "2999-01-01")
            days = f"{first.replace('-', '')}0000 TO {last.replace('-', '')}0000"
            terms.append(f"submittedDate:[{days}]")
        return ApiRequest(
            {"search_query": " AND ".join(terms), "max_results": max_results, "sortBy": "relevance"}
        )

    def read_results(self, body: bytes) -> Iterable[RawResult]:
        """As in the base class."""
        from lxml import etree  # imported at the first search: 20 ms

        try:
            feed = etree.fromstring(body, etree.XMLParser(resolve_entities=False, no_network=True))
        except etree.XMLSyntaxError as error:
            raise ValueError("no feed") from error
        for entry in feed.findall("a:entry", _NAMES):
            url = entry.findtext("a:id", "", _NAMES)
            if "/api/errors" in url:
                raise ApiError(f"arXiv: {shorten(entry.findtext('a:summary', '', _NAMES))}. Use other words.")
            published = entry.findtext("a:published", "", _NAMES)[:10]
            work = build_publication(
                doi=entry.findtext("x:doi", "", _NAMES),
                authors=[name.text for name in entry.findall("a:author/a:name", _NAMES)],
                journal=entry.findtext("x:journal_ref", "", _NAMES),
                year=published[:4],
                pdf_url=next((a.get("href") for a in entry.findall("a:link[@title='pdf']", _NAMES)), ""),
            )
            title, text = (entry.findtext(f"a:{name}", "", _NAMES) for name in ("title", "summary"))
            yield RawResult(url.replace("http://", "https://", 1), title, shorten(text), published, work)
