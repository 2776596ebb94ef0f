"""What engines behind an HTTP API share: a guarded request within limits, and what its failure means.

An adapter says what to ask and how to read the answer. Nothing of an address or a header is ever shown: they
may hold keys. A host that a setting names may be on the operator's own network; others must be public."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from agent.config import Config
from agent.key_addresses import KEY_ADDRESSES, use_key
from agent.net.deadline import NoAnswer
from agent.net.deadline_sockets import current_deadline
from agent.net.exchange import Connections, Reply
from agent.net.policies import ENGINE
from agent.text.identifiers import find_doi
from agent.text.retry_after import parse_retry_after
from agent.text.urls import MAX_URL
from agent.types import ENGINE_BY_NAME, Outcome, Publication, SearchResult, SourceFilter
from agent.web.rate_limit import HostRateLimiter
from agent.web.search_results import (
    DEFAULT_PAUSE_S,
    RawResult,
    build_hits,
    explain_failure,
    strip_markup,
)

MAX_AUTHORS = 30
"""Authors that are kept of a paper: more than any citation style names (APA: 20)."""
MAX_SNIPPET_CHARACTERS = 500
"""Abstracts are cut to about the length of a web engine's longest snippets."""


class ApiRequest(NamedTuple):
    """What is asked: parameters of the address without the empty ones, or a JSON body."""

    params: Mapping[str, str | int]
    headers: Mapping[str, str] = {}
    body: Mapping[str, Any] | None = None


class ApiError(ValueError):
    """The engine answered with an error instead of results; the message is for a person."""

    def __init__(self, detail: str, outcome: Outcome = Outcome.ERROR) -> None:
        super().__init__(detail)
        self.outcome = outcome


class ApiClient:
    """Sends requests to one service, one at a time, `gap_s` seconds apart. Thread-safe."""

    def __init__(self, own_hosts: Iterable[str], gap_s: float = 0.0) -> None:
        self._connections = Connections(own_hosts)
        self._pace = HostRateLimiter(gap_s, concurrent=1)

    def send(self, url: str, request: ApiRequest) -> Reply:
        """Raises NoAnswer, and what the thread's deadline raises."""
        words = urlencode({name: value for name, value in request.params.items() if value != ""})
        full = self._connections.guard.check_url(
            f"{url}{'&' if '?' in url else '?'}{words}" if words else url
        )
        body = json.dumps(request.body).encode() if request.body else None
        headers = {**request.headers, **({"Content-Type": "application/json"} if body else {})}
        with self._pace.hold_slot(urlsplit(full).netloc, current_deadline()):
            return self._connections.exchange(ENGINE, full, headers, body)


class ApiEngine:
    """An engine behind an HTTP API."""

    name = ""
    address = ""
    """Where its documentation says the API is; "" where only the operator knows."""
    limited: tuple[int, ...] = (429,)
    """Statuses that ask for a pause."""
    blocked_advice = "Use another engine, or try later."

    def __init__(self, config: Config) -> None:
        self.profile = ENGINE_BY_NAME[self.name]
        self.label = self.profile.label
        self.config = config
        named = dict(entry.partition("=")[::2] for entry in config.ENGINE_URLS).get(self.name, "")
        self.url = named or self.address
        keys = [name for name in self.profile.settings if name in KEY_ADDRESSES]
        self.key = use_key(config, keys[0], self.url) if keys else ""
        own = [urlsplit(named).hostname or ""] if named else []
        self.client = ApiClient(own, self.profile.gap_s)

    def locate(self, reach: SourceFilter) -> str:
        """The address that is asked."""
        return self.url

    def build_request(self, query: str, max_results: int, reach: SourceFilter) -> ApiRequest:
        """What to ask for at most `max_results` results inside `reach`, as far as the engine supports it."""
        raise NotImplementedError

    def read_results(self, body: bytes) -> Iterable[RawResult]:
        """The results of an answer. Raises ApiError, or what reading a wrong shape raises."""
        raise NotImplementedError

    def search(self, query: str, max_results: int, reach: SourceFilter) -> SearchResult:
        """Up to `max_results` hits, best first. Raises MISREAD for an answer of another shape."""
        try:
            response = self.client.send(self.locate(reach), self.build_request(query, max_results, reach))
            if response.status != 200:
                status = response.status
                asked = parse_retry_after(response.headers.get("Retry-After"))
                if status in self.limited or (status == 503 and asked is not None):
                    detail = f"{self.label} asks for a pause. Use another engine meanwhile."
                    wait = DEFAULT_PAUSE_S if asked is None else asked
                    return explain_failure(self, query, Outcome.RATE_LIMITED, detail, wait)
                if status in (401, 402, 403):
                    keys = [name for name in self.profile.settings if name in KEY_ADDRESSES]
                    advice = f"Check {keys[0]}." if self.key else self.blocked_advice
                    detail = f"{self.label} does not answer this program ({status}). {advice}"
                    return explain_failure(self, query, Outcome.BLOCKED, detail)
                trouble = "is in trouble" if status >= 500 else "did not accept the request"
                detail = f"{self.label} {trouble} ({status}). Try again later, or use another engine."
                return explain_failure(self, query, Outcome.ERROR, detail)
            hits = build_hits(self.name, self.read_results(response.body), max_results)
        except ApiError as error:
            return explain_failure(self, query, error.outcome, str(error))
        except NoAnswer as why:
            return explain_failure(self, query, why.outcome, f"{self.label}: {why}" if str(why) else "")
        if not hits:
            return explain_failure(self, query, Outcome.EMPTY)
        return SearchResult(engine=self.name, query=query, outcome=Outcome.OK, hits=hits)


def shorten(text: str | None) -> str:
    """A snippet of plain text, cut at a word."""
    plain = strip_markup(text or "")
    return (
        plain
        if len(plain) <= MAX_SNIPPET_CHARACTERS
        else f"{plain[:MAX_SNIPPET_CHARACTERS].rpartition(' ')[0]}…"
    )


def build_publication(
    *,
    doi: str | None = "",
    authors: Iterable[str | None] = (),
    journal: str | None = "",
    year: int | str | None = 0,
    licence: str | None = "",
    pdf_url: str | None = "",
) -> Publication | None:
    """What is known of a work, in one spelling; None where nothing is."""
    names = [strip_markup(name) for name in islice(filter(None, authors), 2 * MAX_AUTHORS)]
    first_year = str(year or "")[:4]
    found = Publication(
        doi=find_doi((doi or "")[:MAX_URL]),
        authors=[name for name in names if name][:MAX_AUTHORS],
        journal=strip_markup(journal or ""),
        year=int(first_year) if first_year.isdecimal() else 0,
        licence=(licence or "")[:MAX_URL].strip(),
        pdf_url=(pdf_url or "").strip() if len(pdf_url or "") <= MAX_URL else "",
    )
    return found if any(value for _, value in found) else None


def join_filters(**filters: str) -> str:
    """The filters that have a value, as catalogues write them: "name:value,name:value"."""
    return ",".join(f"{name}:{value}" for name, value in filters.items() if value)


def make_doi_url(doi: str | None) -> str:
    """The address that resolves a DOI; "" for none."""
    plain = find_doi((doi or "")[:MAX_URL])
    return f"https://doi.org/{plain}" if plain else ""
