"""DuckDuckGo through `ddgs`, one named backend after the other.

`ddgs` raises the same error for "nothing found" and "go away", so each backend's HTTP responses are recorded:
only a page that says so is `empty`; what cannot be told apart counts as `blocked`. Requests look like a
browser's: that is how ddgs works."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from agent.config import Config
from agent.text.retry_after import parse_retry_after
from agent.types import Outcome, SearchResult, SourceFilter
from agent.web import search_params
from agent.web.search_results import DEFAULT_PAUSE_S, RawResult, build_hits, explain_failure

TIMEOUT_S = 10
_NO_RESULTS = re.compile(
    r"no[- ]results|no more results|did not match any|not found any|keine ergebnisse", re.IGNORECASE
)
_CHALLENGE = re.compile(r"anomaly|captcha|bots use|unusual traffic|challenge", re.IGNORECASE)
_BY_INFORMATION = (
    Outcome.RATE_LIMITED,
    Outcome.BLOCKED,
    Outcome.TIMEOUT,
    Outcome.ERROR,
    Outcome.REFUSED,
    Outcome.EMPTY,
)


@dataclass
class _HttpTrace:
    """What a backend's HTTP client came across during one search."""

    status: int | None = None
    body: str = ""
    retry_after: str | None = None
    error: str = ""
    timed_out: bool = False


class DuckDuckGo:
    """The engine. `backends` are ddgs's names; the first with hits answers."""

    name = "duckduckgo"
    label = "DuckDuckGo"

    def __init__(self, config: Config) -> None:
        self._backends = config.DDG_BACKEND
        self._endpoint = config.DDG_ENDPOINT
        self._region = config.SEARCH_REGION or "us-en"

    def search(self, query: str, max_results: int, reach: SourceFilter) -> SearchResult:
        """The hits of the first backend that has any, else the most informative failure."""
        results = []
        for backend in self._backends:
            results.append(self._search_backend(backend, query, max_results, reach))
            if results[-1].outcome is Outcome.OK:
                return results[-1]
        return min(results, key=lambda result: _BY_INFORMATION.index(result.outcome))

    def _search_backend(
        self, backend: str, query: str, max_results: int, reach: SourceFilter
    ) -> SearchResult:
        # ddgs loads primp, a compiled browser of 20 MB, so it is imported at the first live search.
        from ddgs.engines import ENGINES
        from ddgs.exceptions import DDGSException
        from lxml.etree import LxmlError

        engine_class = ENGINES["text"].get(backend)
        if engine_class is None:
            has = f"(it has {', '.join(sorted(ENGINES['text']))})"
            detail = f"DDG_BACKEND names {backend!r}, which ddgs does not have {has}."
            return explain_failure(self, query, Outcome.REFUSED, detail)
        engine = engine_class(timeout=TIMEOUT_S)
        if self._endpoint and backend == "duckduckgo":
            engine.search_url = self._endpoint
        trace = _HttpTrace()
        _record_responses(engine.http_client, trace)
        try:
            found = engine.search(
                search_params.add_site_operators(query, reach),
                region=search_params.region_code(reach, self._region),
                timelimit=search_params.time_limit(reach),
            )
        except (DDGSException, LxmlError, ValueError) as error:  # the last two: ddgs could not parse the page
            trace.error, found = str(error), None
        raws = [RawResult(str(result.href), str(result.title), str(result.body)) for result in found or []]
        hits = build_hits(self.name, raws, max_results)
        if hits:
            return SearchResult(engine=self.name, query=query, outcome=Outcome.OK, hits=hits)
        return self._explain_no_hits(query, trace)

    def _explain_no_hits(self, query: str, trace: _HttpTrace) -> SearchResult:
        status = trace.status
        if trace.timed_out or "timed out" in trace.error.lower():
            return explain_failure(self, query, Outcome.TIMEOUT)
        if status is None:
            detail = "The search engine could not be reached. Check the network."
            return explain_failure(self, query, Outcome.ERROR, detail)
        if status in (202, 429):
            wait = parse_retry_after(trace.retry_after)
            detail = "The search engine asks for a pause."
            return explain_failure(
                self, query, Outcome.RATE_LIMITED, detail, DEFAULT_PAUSE_S if wait is None else wait
            )
        if status == 200 and _NO_RESULTS.search(trace.body) and not _CHALLENGE.search(trace.body):
            return explain_failure(self, query, Outcome.EMPTY)
        if status >= 500:
            detail = f"The search engine is in trouble ({status}). Try again later."
            return explain_failure(self, query, Outcome.ERROR, detail)
        detail = f"The search engine does not answer programs ({status}). Use another, or try later."
        return explain_failure(self, query, Outcome.BLOCKED, detail)


def _record_responses(client: Any, trace: _HttpTrace) -> None:
    """Record status, body and Retry-After of a ddgs HTTP client, which ddgs itself drops."""
    plain = client.request

    def request(*args: Any, **kwargs: Any) -> Any:
        from ddgs.exceptions import TimeoutException

        try:
            response = plain(*args, **kwargs)
        except TimeoutException:
            trace.timed_out = True
            raise
        trace.status = response.status_code
        trace.body = response.text[:200_000]
        trace.retry_after = dict(getattr(response._resp, "headers", {})).get("retry-after")
        return response

    client.request = request
