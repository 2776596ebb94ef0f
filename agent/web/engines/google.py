"""Google's custom search JSON API through google-api-python-client. Needs a key and an engine id; never shows
either.

Google closes whole-web custom search on 2027-01-01 and takes no new customers."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from agent.net.deadline import NoAnswer
from agent.net.exchange import Connections, parse_retry_after
from agent.net.policies import ENGINE
from agent.settings.config import Config
from agent.settings.key_addresses import find_address, use_key
from agent.text.dates import normalize_date
from agent.types import Outcome, SearchResult, SourceFilter
from agent.web import search_results
from agent.web.search_results import RawResult, build_result, explain_failure

MAX_RESULTS_PER_REQUEST = 10
"""The API gives at most this many results a request."""


class Google:
    """The engine. Its service description ships with the library, which asks over our connections."""

    name = "google"
    label = "Google"

    def __init__(self, config: Config) -> None:
        self._key = use_key(config, "GOOGLE_API_KEY", find_address(config, "GOOGLE_API_KEY"))
        self._cx = config.GOOGLE_CSE_ID
        self._endpoint = config.GOOGLE_ENDPOINT
        own = urlsplit(self._endpoint).hostname
        self._connections = Connections([own] if own else [])

    def request(
        self, uri: str, method: str = "GET", body: Any = None, headers: Any = None, **_: Any
    ) -> tuple[Any, bytes]:
        """What the library calls on `httplib2.Http`."""
        import httplib2

        url, sent = self._connections.guard.check_url(uri), body.encode() if body else None
        reply = self._connections.exchange(ENGINE, url, headers or {}, sent, method=method)
        told = {name.lower(): value for name, value in reply.headers.items()}
        return httplib2.Response({**told, "status": str(reply.status)}), reply.body

    def search(self, query: str, max_results: int, reach: SourceFilter) -> SearchResult:
        """Up to `max_results` (at most 10) hits."""
        # The library takes a third of a second to import, so it is imported at the first search.
        from googleapiclient.errors import HttpError

        words = search_results.add_site_operators(query, reach)
        try:
            from googleapiclient.discovery import build

            service = build(
                "customsearch",
                "v1",
                developerKey=self._key,
                static_discovery=True,
                cache_discovery=False,
                http=self,
                client_options={"api_endpoint": self._endpoint} if self._endpoint else None,
            )
            limits: dict[str, Any] = {"num": min(max_results, MAX_RESULTS_PER_REQUEST)}
            if reach.since:
                limits["dateRestrict"] = f"d{search_results.days_back(reach)}"
            if reach.language:
                limits["lr"] = "lang_" + {"he": "iw", "zh": "zh-CN"}.get(reach.language, reach.language)
            found = service.cse().list(q=words, cx=self._cx, **limits).execute(num_retries=0)
            if not isinstance(found, dict):
                raise ValueError("an answer that is not JSON")
        except HttpError as error:
            status, is_quota = error.status_code, "exceeded" in str(error.error_details).lower()
            if status == HTTPStatus.TOO_MANY_REQUESTS or (status == HTTPStatus.FORBIDDEN and is_quota):
                wait = parse_retry_after(error.resp.get("retry-after"))
                detail = "Google's quota for this key is used up for now. Use another engine meanwhile."
                return explain_failure(self, query, Outcome.RATE_LIMITED, detail, wait)
            if status in (HTTPStatus.BAD_REQUEST, HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
                check = "Check GOOGLE_API_KEY and GOOGLE_CSE_ID."
                detail = f"Google does not accept the key or the engine id ({status}). {check}"
                return explain_failure(self, query, Outcome.BLOCKED, detail)
            detail = f"Google is in trouble ({status}). Try again later, or search with another engine."
            return explain_failure(self, query, Outcome.ERROR, detail)
        except NoAnswer as why:
            return explain_failure(self, query, why.outcome, f"{self.label}: {why}" if str(why) else "")
        hits: list[RawResult] = []
        for item in found.get("items") or []:
            metas = (item.get("pagemap") or {}).get("metatags") or [{}]
            first = metas[0] if isinstance(metas[0], dict) else {}  # what the page states of itself
            published = normalize_date(str(first.get("article:published_time") or first.get("date") or ""))
            link, title, snippet = (str(item.get(name, "")) for name in ("link", "title", "snippet"))
            hits.append(RawResult(link, title, snippet, published))
        return build_result(self, query, hits, max_results)
