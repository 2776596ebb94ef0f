"""DuckDuckGo through `ddgs`, one named backend after the other.

`ddgs` raises the same error for "nothing found" and "go away", so each backend's HTTP statuses are listened
to: only a page that says so is `empty`; what can't be told apart counts as `blocked`. Requests look like a
browser's: that is how ddgs works."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from agent.config import Config
from agent.types import Outcome, SearchResult, SourceFilter
from agent.web import search_params
from agent.web.rate_limit import parse_retry_after
from agent.web.search_results import RawResult, build_hits

TIMEOUT_S = 10
_NO_RESULTS = re.compile(
    r"no[- ]results|no more results|did not match any|not found any|keine ergebnisse", re.IGNORECASE
)
_CHALLENGE = re.compile(r"anomaly|captcha|bots use|unusual traffic|challenge", re.IGNORECASE)
_DEFAULT_PAUSE_S = 60.0
"""Seconds to leave an engine alone that does not say for how long."""


@dataclass
class _HttpTrace:
    """What a backend's HTTP client came across during one search."""

    status: int | None = None
    body: str = ""
    retry_after: str | None = None
    error: str = ""
    timed_out: bool = False
    asked: list[str] = field(default_factory=list)


class DuckDuckGo:
    """The engine. `backends` are ddgs's names; the first that gives hits answers."""

    name = "duckduckgo"
    label = "DuckDuckGo"

    def __init__(self, config: Config) -> None:
        self._backends = config.DDG_BACKEND
        self._endpoint = config.DDG_ENDPOINT
        self._region = config.SEARCH_REGION or "us-en"

    def search(self, query: str, max_results: int, reach: SourceFilter) -> SearchResult:
        """The hits of the first backend that has any, else the outcome that says most about why there are
        none."""
        results = []
        for backend in self._backends:
            results.append(self._search_backend(backend, query, max_results, reach))
            if results[-1].outcome is Outcome.OK:
                return results[-1]
        order = (
            Outcome.RATE_LIMITED,
            Outcome.BLOCKED,
            Outcome.TIMEOUT,
            Outcome.ERROR,
            Outcome.REFUSED,
            Outcome.EMPTY,
        )
        return min(results, key=lambda result: order.index(result.outcome))

    def _search_backend(
        self, backend: str, query: str, max_results: int, reach: SourceFilter
    ) -> SearchResult:
        # ddgs brings primp, a compiled browser of 20 MB: loaded at the first live search, not when the
        # program starts.
        from ddgs.engines import ENGINES
        from ddgs.exceptions import DDGSException
        from lxml.etree import LxmlError

        engine_class = ENGINES["text"].get(backend)
        if engine_class is None:
            known = ", ".join(sorted(ENGINES["text"]))
            return self._build_failure(
                query,
                Outcome.REFUSED,
                f"DDG_BACKEND names {backend!r}, which ddgs does not have (it has {known}).",
            )
        engine = engine_class(timeout=TIMEOUT_S)
        if self._endpoint and backend == "duckduckgo":
            engine.search_url = self._endpoint
        heard = _HttpTrace()
        _record_responses(engine.http_client, heard)
        try:
            found = (
                engine.search(
                    search_params.add_site_operators(query, reach),
                    region=search_params.region_code(reach, self._region),
                    timelimit=search_params.time_limit(reach),
                )
                or []
            )
        except (
            DDGSException,
            LxmlError,
            ValueError,
        ) as error:  # the last two: ddgs could not parse what came (an empty page, a comment)
            heard.error = str(error)
            found = []
        raws = [RawResult(str(result.href), str(result.title), str(result.body)) for result in found]
        good = build_hits(self.name, raws, max_results)
        if good:
            return SearchResult(engine=self.name, query=query, outcome=Outcome.OK, hits=good)
        return self._explain_no_hits(query, heard)

    def _explain_no_hits(self, query: str, heard: _HttpTrace) -> SearchResult:
        if heard.timed_out or "timed out" in heard.error.lower():
            return self._build_failure(
                query, Outcome.TIMEOUT, "The search engine did not answer in time. Try again, or ask another."
            )
        if heard.status is None:
            return self._build_failure(
                query, Outcome.ERROR, "The search engine could not be reached. Check the network."
            )
        if heard.status in (202, 429):
            wait = parse_retry_after(heard.retry_after)
            return self._build_failure(
                query,
                Outcome.RATE_LIMITED,
                "The search engine asks for a pause.",
                _DEFAULT_PAUSE_S if wait is None else wait,
            )
        if heard.status == 200 and _NO_RESULTS.search(heard.body) and not _CHALLENGE.search(heard.body):
            return self._build_failure(
                query,
                Outcome.EMPTY,
                "The search engine found nothing for these words. Try fewer or other words.",
            )
        if heard.status >= 500:
            return self._build_failure(
                query, Outcome.ERROR, f"The search engine is in trouble ({heard.status}). Try again later."
            )
        refusal = f"The search engine would not answer a program ({heard.status}). Ask another, or try later."
        return self._build_failure(query, Outcome.BLOCKED, refusal)

    def _build_failure(
        self, query: str, outcome: Outcome, detail: str, retry_after_s: float | None = None
    ) -> SearchResult:
        return SearchResult(
            engine=self.name, query=query, outcome=outcome, detail=detail, retry_after_s=retry_after_s
        )


def _record_responses(client: Any, heard: _HttpTrace) -> None:
    """Note what passes through a ddgs HTTP client: its status, body and Retry-After, which ddgs itself throws
    away."""
    plain = client.request

    def request(*args: Any, **kwargs: Any) -> Any:
        from ddgs.exceptions import TimeoutException

        try:
            response = plain(*args, **kwargs)
        except TimeoutException:
            heard.timed_out = True
            raise
        heard.status = response.status_code
        heard.body = response.text[:200_000]
        heard.retry_after = dict(getattr(response._resp, "headers", {})).get("retry-after")
        return response

    client.request = request
