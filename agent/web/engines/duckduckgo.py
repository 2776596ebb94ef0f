"""DuckDuckGo through `ddgs`, one named backend after the other.

`ddgs` brings an HTTP client and a parser of its own: they run in a process with limits, and every connection
goes through a tunnel of ours. Only a page that says so is `empty`; what cannot be told apart is `blocked`."""

from __future__ import annotations

from functools import lru_cache, partial
from http import HTTPStatus
from urllib.parse import urlsplit

from pydantic import TypeAdapter

from agent.net.deadline import POLL_SECONDS, DeadlineExceeded, current_deadline
from agent.net.exchange import parse_retry_after
from agent.net.policies import ENGINE
from agent.net.ssrf_guard import SsrfGuard
from agent.net.tunnel import Tunnel
from agent.settings.config import Config
from agent.types import Outcome, SearchResult, SourceFilter
from agent.web import search_results
from agent.web.engines.ddgs_search import BackendReply
from agent.web.parser_pool import ParserDied, ParserLimits, ParserPool
from agent.web.search_results import build_result, explain_failure

_REPLY = TypeAdapter(BackendReply)
LIMITS = ParserLimits(seconds=5, megabytes=200)
"""A usual search needs 72 MB (104 of address space); the largest answer that is read, 157."""
MAX_SEARCHES = 8
"""At the same time, however many runs may work: eight idle processes hold 576 MB."""
_BY_INFORMATION = (
    Outcome.RATE_LIMITED,
    Outcome.BLOCKED,
    Outcome.TIMEOUT,
    Outcome.ERROR,
    Outcome.REFUSED,
    Outcome.EMPTY,
)


@lru_cache(maxsize=1)
def share_processes(searches: int) -> ParserPool:
    """The processes for so many searches at the same time, the same for all worlds."""
    return ParserPool(LIMITS, size=searches)


class DuckDuckGo:
    """The engine. `backends` are ddgs's names; the first with hits answers."""

    name = "duckduckgo"
    label = "DuckDuckGo"

    def __init__(self, config: Config) -> None:
        self._backends = config.DDG_BACKEND
        self._endpoint = config.DDG_ENDPOINT
        self._region = config.SEARCH_REGION or "us-en"
        self._processes = share_processes(min(config.WORKERS or 1, MAX_SEARCHES))
        self._guard = SsrfGuard([urlsplit(config.DDG_ENDPOINT).hostname or ""] if config.DDG_ENDPOINT else [])

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
        words, watch = search_results.add_site_operators(query, reach).encode(), current_deadline()
        try:
            with (
                self._processes.hold_place(partial(watch.extend, POLL_SECONDS)),
                Tunnel(self._guard, limit := watch.within(ENGINE.seconds), 2 * ENGINE.max_bytes) as tunnel,
            ):
                about = {
                    "backend": backend,
                    "endpoint": self._endpoint if backend == "duckduckgo" else "",
                    "region": search_results.REGION_CODES.get(reach.language, self._region),
                    "timelimit": search_results.time_limit(reach),
                    "proxy": tunnel.url,
                }
                reply = self._processes.run("search", words, about, _REPLY, limit.check)
        except DeadlineExceeded:
            return explain_failure(self, query, Outcome.TIMEOUT)
        except (ParserDied, OSError) as trouble:
            detail = "Its answer takes too much time or memory to read. Use another search engine."
            if isinstance(trouble, OSError):
                detail = f"This computer could not start the process that searches ({trouble.strerror})."
            return explain_failure(self, query, Outcome.ERROR, detail)
        found = build_result(self, query, reply.results, max_results)
        return found if found.hits else self._explain_no_hits(backend, query, reply, tunnel.refusal)

    def _explain_no_hits(self, backend: str, query: str, reply: BackendReply, refusal: str) -> SearchResult:
        status = reply.status
        if reply.known_backends:
            has = f"(it has {', '.join(reply.known_backends)})"
            detail = f"DDG_BACKEND names {backend!r}, which ddgs does not have {has}."
            return explain_failure(self, query, Outcome.REFUSED, detail)
        if reply.is_late:
            return explain_failure(self, query, Outcome.TIMEOUT)
        if refusal or reply.is_too_large:
            told = refusal or "Its answer is too large to read."
            detail = f"{told} Use another search engine."
            return explain_failure(self, query, Outcome.BLOCKED, detail)
        if status is None:
            detail = "The search engine could not be reached. Check the network."
            return explain_failure(self, query, Outcome.ERROR, detail)
        if status in (HTTPStatus.ACCEPTED, HTTPStatus.TOO_MANY_REQUESTS):
            wait = parse_retry_after(reply.retry_after)
            detail = "The search engine asks for a pause."
            return explain_failure(self, query, Outcome.RATE_LIMITED, detail, wait)
        if status == HTTPStatus.OK and reply.says_nothing_found:
            return explain_failure(self, query, Outcome.EMPTY)
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            detail = f"The search engine is in trouble ({status}). Try again later."
            return explain_failure(self, query, Outcome.ERROR, detail)
        detail = f"The search engine does not answer programs ({status}). Use another, or try later."
        return explain_failure(self, query, Outcome.BLOCKED, detail)
