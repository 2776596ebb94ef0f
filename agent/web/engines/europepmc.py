"""Europe PMC: papers and preprints of the life sciences (europepmc.org/RestfulWebService)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agent.text.json_text import parse_json
from agent.types import SourceFilter
from agent.web.engines.http_api import ApiEngine, ApiRequest, build_publication, make_doi_url, shorten
from agent.web.search_results import RawResult

_QUERY_SIGNS = re.compile(r"[:()\[\]{}^~*?\\/\"]")
"""What its query language reads as more than words."""


class EuropePMC(ApiEngine):
    """The engine."""

    name = "europepmc"
    address = "https://www.ebi.ac.uk/europepmc/webservices/rest/search"

    def build_request(self, query: str, max_results: int, reach: SourceFilter) -> ApiRequest:
        """As in the base class."""
        words = " ".join(_QUERY_SIGNS.sub(" ", query).split())
        if reach.since or reach.before:
            days = f"{reach.since or '1500-01-01'} TO {reach.before or '2999-01-01'}"
            words = f"({words}) AND (FIRST_PDATE:[{days}])"
        return ApiRequest({"query": words, "resultType": "core", "format": "json", "pageSize": max_results})

    def read_results(self, body: bytes) -> Iterable[RawResult]:
        """As in the base class."""
        for item in parse_json(body)["resultList"]["result"]:
            texts = (item.get("fullTextUrlList") or {}).get("fullTextUrl") or []
            free = [one for one in texts if one.get("availabilityCode") in ("OA", "F")]
            pdf = next((one["url"] for one in free if one.get("documentStyle") == "pdf"), "")
            work = build_publication(
                doi=item.get("doi"),
                authors=[
                    one.get("fullName") or one.get("collectiveName")
                    for one in (item.get("authorList") or {}).get("author") or []
                ],
                journal=((item.get("journalInfo") or {}).get("journal") or {}).get("title"),
                year=item.get("pubYear"),
                licence=item.get("license"),
                pdf_url=pdf,
            )
            own = f"https://europepmc.org/article/{item['source']}/{item['id']}"
            url = make_doi_url(item.get("doi")) or pdf or own
            text, published = shorten(item.get("abstractText")), item.get("firstPublicationDate") or ""
            yield RawResult(url, item.get("title") or "", text, published, work)
