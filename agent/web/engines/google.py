"""Google's custom search JSON API through google-api-python-client. Needs a key and an engine id; never shows
either.

Google closes whole-web custom search on 2027-01-01 and takes no new customers."""

from __future__ import annotations

import json
from typing import Any

from agent.config import Config
from agent.types import Outcome, SearchResult, SourceFilter
from agent.web import search_params
from agent.web.extract.page_dates import normalize_date
from agent.web.rate_limit import parse_retry_after
from agent.web.search_results import RawResult, build_hits

TIMEOUT_S = 10
MAX_RESULTS_PER_REQUEST = 10
"""The API gives at most this many results a request."""
GOOGLE_LANGUAGE_CODES = {"he": "iw", "zh": "zh-CN"}
"""Languages that go by another code there."""
_DEFAULT_PAUSE_S = 60.0
_QUOTA_REASONS = (
    "ratelimitexceeded",
    "dailylimitexceeded",
    "quotaexceeded",
    "userratelimitexceeded",
    "resource_exhausted",
)


class Google:
    """The engine. Its service description ships with the library; each search has its own connection."""

    name = "google"
    label = "Google"

    def __init__(self, config: Config) -> None:
        self._key = config.GOOGLE_API_KEY
        self._cx = config.GOOGLE_CSE_ID
        self._endpoint = config.GOOGLE_ENDPOINT

    def search(self, query: str, max_results: int, reach: SourceFilter) -> SearchResult:
        """Up to `max_results` (at most 10) hits."""
        # The library takes a third of a second to load: only when Google is really asked.
        import httplib2
        from googleapiclient.errors import HttpError

        try:
            found = self._execute(
                search_params.add_site_operators(query, reach),
                min(max_results, MAX_RESULTS_PER_REQUEST),
                reach,
            )
        except HttpError as error:
            return self._explain_http_error(
                query, int(error.resp.status), error.resp.get("retry-after"), bytes(error.content or b"")
            )
        except TimeoutError:
            return self._build_failure(
                query,
                Outcome.TIMEOUT,
                "Google did not answer in time. Try again, or search with another engine.",
            )
        except (OSError, httplib2.HttpLib2Error, ValueError):
            return self._build_failure(
                query,
                Outcome.ERROR,
                "Google could not be reached, or its answer made no sense. Check the network.",
            )
        items = found.get("items") or []
        raws = [
            RawResult(
                str(i.get("link", "")),
                str(i.get("title", "")),
                str(i.get("snippet", "")),
                _find_published_date(i),
            )
            for i in items
        ]
        good = build_hits(self.name, raws, max_results)
        if not good:
            return self._build_failure(
                query, Outcome.EMPTY, "Google found nothing for these words. Try fewer or other words."
            )
        return SearchResult(engine=self.name, query=query, outcome=Outcome.OK, hits=good)

    def _execute(self, query: str, number: int, reach: SourceFilter) -> dict[str, Any]:
        import httplib2
        from googleapiclient.discovery import build

        options = {"api_endpoint": self._endpoint} if self._endpoint else None
        wire = httplib2.Http(timeout=TIMEOUT_S)
        service = build(
            "customsearch",
            "v1",
            developerKey=self._key,
            static_discovery=True,
            cache_discovery=False,
            http=wire,
            client_options=options,
        )
        within: dict[str, Any] = {"dateRestrict": f"d{search_params.days_back(reach)}"} if reach.since else {}
        within |= (
            {"lr": f"lang_{GOOGLE_LANGUAGE_CODES.get(reach.language, reach.language)}"}
            if reach.language
            else {}
        )
        reply = service.cse().list(q=query, cx=self._cx, num=number, **within).execute(num_retries=0)
        if not isinstance(reply, dict):
            raise ValueError("an answer that is not JSON")
        return reply

    def _explain_http_error(
        self, query: str, status: int, retry_after: str | None, body: bytes
    ) -> SearchResult:
        reasons = _read_error_reasons(body)
        if status == 429 or (status == 403 and any(reason in reasons for reason in _QUOTA_REASONS)):
            wait = parse_retry_after(retry_after)
            detail = "Google's quota for this key is used up for now. Use another engine meanwhile."
            return self._build_failure(
                query, Outcome.RATE_LIMITED, detail, _DEFAULT_PAUSE_S if wait is None else wait
            )
        if status in (400, 401, 403):
            return self._build_failure(
                query,
                Outcome.BLOCKED,
                f"Google does not accept the key or the engine id ({status}). Check GOOGLE_API_KEY and GOOGLE_CSE_ID.",
            )
        return self._build_failure(
            query,
            Outcome.ERROR,
            f"Google is in trouble ({status}). Try again later, or search with another engine.",
        )

    def _build_failure(
        self, query: str, outcome: Outcome, detail: str, retry_after_s: float | None = None
    ) -> SearchResult:
        return SearchResult(
            engine=self.name, query=query, outcome=outcome, detail=detail, retry_after_s=retry_after_s
        )


def _find_published_date(item: dict[str, Any]) -> str:
    """When a result was published, if Google tells what its page states."""
    metas = (item.get("pagemap") or {}).get("metatags") or [{}]
    return (
        normalize_date(str(metas[0].get("article:published_time") or metas[0].get("date") or ""))
        if isinstance(metas[0], dict)
        else ""
    )


def _read_error_reasons(body: bytes) -> str:
    """The machine-readable reasons of an error body, lowercased."""
    try:
        error = json.loads(body).get("error", {})
        return " ".join(
            [str(error.get("status", ""))] + [str(e.get("reason", "")) for e in error.get("errors", [])]
        ).lower()
    except (ValueError, AttributeError):
        return ""
