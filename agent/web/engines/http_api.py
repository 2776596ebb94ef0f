"""Engines behind an HTTP API: a guarded request within limits, and what its failure means.

`agent.web.engines.api_engines` says what is asked and how the answer is read. Nothing of an address or a
header is ever shown: they may hold keys. A host that a setting names may be on the operator's own network;
others must be public."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from itertools import islice
from typing import Any
from urllib.parse import urlencode, urlsplit

from agent.net.deadline import NoAnswer, current_deadline
from agent.net.exchange import Connections, Reply, parse_retry_after
from agent.net.policies import ENGINE
from agent.settings.config import Config
from agent.settings.key_addresses import KEY_ADDRESSES, use_key
from agent.text.dates import normalize_date
from agent.text.urls import MAX_URL, find_doi
from agent.types import ENGINE_BY_NAME, Outcome, Publication, SearchResult, SourceFilter
from agent.web.engines.api_engines import APIS, ApiError, Asked, pick
from agent.web.extract.metadata import MAX_AUTHORS
from agent.web.rate_limit import HostRateLimiter
from agent.web.search_results import (
    MAX_SNIPPET_CHARACTERS,
    RawResult,
    build_result,
    explain_failure,
    strip_markup,
)


class ApiClient:
    """Sends requests to one service, one at a time, `gap_s` seconds apart, for all who have the same `pace`.
    Thread-safe."""

    def __init__(
        self, own_hosts: Iterable[str], gap_s: float = 0.0, pace: HostRateLimiter | None = None
    ) -> None:
        self._connections = Connections(own_hosts)
        self._pace, self._gap_s = pace or HostRateLimiter(gap_s), gap_s

    def send(
        self,
        url: str,
        params: Mapping[str, Any],
        headers: Mapping[str, str] | None = None,
        *,
        is_posted: bool = False,
    ) -> Reply:
        """The answer to a request with the parameters that have a value, in its address or as a JSON body.
        Raises NoAnswer, and what the thread's deadline raises."""
        asked, body = {name: value for name, value in params.items() if value not in ("", [])}, None
        if is_posted:
            body, headers = (
                json.dumps(asked).encode(),
                {**(headers or {}), "Content-Type": "application/json"},
            )
        else:
            url += f"{'&' if '?' in url else '?'}{urlencode(asked)}"
        full = self._connections.guard.check_url(url)
        service = f"search {urlsplit(full).netloc}"  # its pages have a pace of their own
        with self._pace.hold_slot(service, current_deadline(), alone=self._gap_s):
            return self._connections.exchange(ENGINE, full, headers, body)


class ApiEngine:
    """An engine behind an HTTP API."""

    def __init__(self, config: Config, name: str, pace: HostRateLimiter | None = None) -> None:
        self.name, self.api = name, APIS[name]
        self.profile = ENGINE_BY_NAME[name]
        self.label = self.profile.label
        self.config = config
        named = dict(entry.partition("=")[::2] for entry in config.ENGINE_URLS).get(name, "")
        if self.api.locate:
            named = self.api.locate(config)
        self.url = named or self.api.address
        self._keys = [setting for setting in self.profile.settings if setting in KEY_ADDRESSES]
        self.key = use_key(config, self._keys[0], self.url) if self._keys else ""
        self.client = ApiClient([urlsplit(named).hostname or ""] if named else [], self.profile.gap_s, pace)

    def locate(self, reach: SourceFilter) -> str:
        """The address that is asked: in the run's language, else in that of the searches' region."""
        region = self.config.SEARCH_REGION.rpartition("-")[2]
        return self.url.replace("{language}", reach.language or region)

    def search(self, query: str, max_results: int, reach: SourceFilter) -> SearchResult:
        """Up to `max_results` hits, best first. Raises MISREAD for an answer of another shape."""
        asked = Asked(query, max_results, reach, self.key, self.config.CONTACT_EMAIL)
        params, headers = self.api.ask(asked), self.api.headers(asked)
        try:
            response = self.client.send(self.locate(reach), params, headers, is_posted=self.api.is_posted)
            if response.status != HTTPStatus.OK:
                return self._explain_status(query, response.status, response.headers.get("Retry-After"))
            found = self._read_results(response.body)
            return build_result(self, query, found, max_results, MAX_SNIPPET_CHARACTERS)
        except ApiError as error:
            return explain_failure(self, query, error.outcome, str(error))
        except NoAnswer as why:
            return explain_failure(self, query, why.outcome, f"{self.label}: {why}" if str(why) else "")

    def _explain_status(self, query: str, status: int, retry_after: str | None) -> SearchResult:
        asked = parse_retry_after(retry_after)
        if status in self.api.limited or (status == HTTPStatus.SERVICE_UNAVAILABLE and asked is not None):
            detail = f"{self.label} asks for a pause. Use another engine meanwhile."
            return explain_failure(self, query, Outcome.RATE_LIMITED, detail, asked)
        if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.PAYMENT_REQUIRED, HTTPStatus.FORBIDDEN):
            advice = f"Check {self._keys[0]}." if self.key else self.api.blocked_advice
            detail = f"{self.label} does not answer this program ({status}). {advice}"
            return explain_failure(self, query, Outcome.BLOCKED, detail)
        is_down = status >= HTTPStatus.INTERNAL_SERVER_ERROR
        trouble = "is in trouble" if is_down else "did not accept the request"
        detail = f"{self.label} {trouble} ({status}). Try again later, or use another engine."
        return explain_failure(self, query, Outcome.ERROR, detail)

    def _read_results(self, body: bytes) -> Iterable[RawResult]:
        api, items = self.api, self.api.load(body)
        if api.items:
            items = pick(items, api.items)
            if items is None and not api.may_lack_items:
                raise ValueError("an answer without results")
        for item in items or []:
            work = build_publication(**{name: pick(item, place) for name, place in api.work.items()})
            doi = f"https://doi.org/{work.doi}" if work and work.doi and api.prefers_doi else ""
            title, snippet, day = (pick(item, place) or "" for place in (api.title, api.snippet, api.day))
            yield RawResult(doi or pick(item, api.url), title, snippet, normalize_date(str(day)), work)


def build_publication(
    *,
    doi: str | None = "",
    authors: Iterable[str | None] | None = (),
    people: Mapping[str, str] | None = None,
    journal: str | None = "",
    year: int | str | None = 0,
    licence: str | None = "",
    pdf_url: str | None = "",
) -> Publication | None:
    """What is known of a work, in one spelling; None where nothing is."""
    given = map(strip_markup, islice(filter(None, authors or ()), 2 * MAX_AUTHORS))
    names = [name for name in given if name][:MAX_AUTHORS]
    turned = {strip_markup(name): strip_markup(other) for name, other in (people or {}).items()}
    first_year = str(year or "")[:4]
    found = Publication(
        doi=find_doi((doi or "")[:MAX_URL]),
        authors=names,
        people={name: turned[name] for name in names if name in turned},
        journal=strip_markup(journal or ""),
        year=int(first_year) if first_year.isdecimal() else 0,
        licence=(licence or "")[:MAX_URL].strip(),
        pdf_url=(pdf_url or "").strip() if len(pdf_url or "") <= MAX_URL else "",
    )
    return found if any(value for _, value in found) else None
