"""Google's custom search JSON API through google-api-python-client. Needs a key and an engine id; never shows either.

Google closes whole-web custom search on 2027-01-01 and takes no new customers.
"""

from __future__ import annotations

import json
from typing import Any

from agent.config import Config
from agent.tools import hints, metadata
from agent.tools.pace import asked
from agent.tools.search import Raw, hits
from agent.types import Outcome, Reach, SearchResult

SECONDS = 10
PAGE = 10
"""The API gives at most this many results a request."""
GOOGLES = {"he": "iw", "zh": "zh-CN"}
"""Languages that go by another code there."""
_REST = 60.0
_QUOTA = ("ratelimitexceeded", "dailylimitexceeded", "quotaexceeded", "userratelimitexceeded", "resource_exhausted")


class Google:
    """The engine. Its service description ships with the library; each search has its own connection."""

    name = "google"
    label = "Google"

    def __init__(self, config: Config) -> None:
        self._key = config["GOOGLE_API_KEY"]
        self._cx = config["GOOGLE_CSE_ID"]
        self._endpoint = config["GOOGLE_ENDPOINT"]

    def search(self, query: str, max_results: int, reach: Reach) -> SearchResult:
        """Up to `max_results` (at most 10) hits."""
        # The library takes a third of a second to load: only when Google is really asked.
        import httplib2
        from googleapiclient.errors import HttpError

        try:
            found = self._execute(hints.worded(query, reach), min(max_results, PAGE), reach)
        except HttpError as error:
            return self._refused(query, int(error.resp.status), error.resp.get("retry-after"), bytes(error.content or b""))
        except TimeoutError:
            return self._said(query, Outcome.TIMEOUT, "Google did not answer in time. Try again, or search with another engine.")
        except (OSError, httplib2.HttpLib2Error, ValueError):
            return self._said(query, Outcome.ERROR, "Google could not be reached, or its answer made no sense. Check the network.")
        items = found.get("items") or []
        raws = [Raw(str(i.get("link", "")), str(i.get("title", "")), str(i.get("snippet", "")), _published(i)) for i in items]
        good = hits(self.name, raws, max_results)
        if not good:
            return self._said(query, Outcome.EMPTY, "Google found nothing for these words. Try fewer or other words.")
        return SearchResult(engine=self.name, query=query, outcome=Outcome.OK, hits=good)

    def _execute(self, query: str, number: int, reach: Reach) -> dict[str, Any]:
        import httplib2
        from googleapiclient.discovery import build

        options = {"api_endpoint": self._endpoint} if self._endpoint else None
        wire = httplib2.Http(timeout=SECONDS)
        service = build(
            "customsearch",
            "v1",
            developerKey=self._key,
            static_discovery=True,
            cache_discovery=False,
            http=wire,
            client_options=options,
        )
        within: dict[str, Any] = {"dateRestrict": f"d{hints.days(reach)}"} if reach.since else {}
        within |= {"lr": f"lang_{GOOGLES.get(reach.language, reach.language)}"} if reach.language else {}
        reply = service.cse().list(q=query, cx=self._cx, num=number, **within).execute(num_retries=0)
        if not isinstance(reply, dict):
            raise ValueError("an answer that is not JSON")
        return reply

    def _refused(self, query: str, status: int, retry_after: str | None, body: bytes) -> SearchResult:
        reasons = _reasons(body)
        if status == 429 or (status == 403 and any(reason in reasons for reason in _QUOTA)):
            wait = asked(retry_after)
            detail = "Google's quota for this key is used up for now. Use another engine meanwhile."
            return self._said(query, Outcome.RATE_LIMITED, detail, _REST if wait is None else wait)
        if status in (400, 401, 403):
            return self._said(
                query,
                Outcome.BLOCKED,
                f"Google does not accept the key or the engine id ({status}). Check GOOGLE_API_KEY and GOOGLE_CSE_ID.",
            )
        return self._said(query, Outcome.ERROR, f"Google is in trouble ({status}). Try again later, or search with another engine.")

    def _said(self, query: str, outcome: Outcome, detail: str, retry_after_s: float | None = None) -> SearchResult:
        return SearchResult(engine=self.name, query=query, outcome=outcome, detail=detail, retry_after_s=retry_after_s)


def _published(item: dict[str, Any]) -> str:
    """When a result was published, if Google tells what its page states."""
    metas = (item.get("pagemap") or {}).get("metatags") or [{}]
    return metadata.when(str(metas[0].get("article:published_time") or metas[0].get("date") or "")) if isinstance(metas[0], dict) else ""


def _reasons(body: bytes) -> str:
    """The machine-readable reasons of an error body, lowercased."""
    try:
        error = json.loads(body).get("error", {})
        return " ".join([str(error.get("status", ""))] + [str(e.get("reason", "")) for e in error.get("errors", [])]).lower()
    except (ValueError, AttributeError):
        return ""
