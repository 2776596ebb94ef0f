"""One page, politely: guard, scope, robots and pace on every hop; a total deadline; a cap on decoded bytes;
then its text.

Whatever the web does comes back as a Page with an outcome and a sentence; only a run's Signals are raised.
The transport is given (live or a folder), everything else is the same for both."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from urllib.parse import urljoin

import requests
from requests.adapters import HTTPAdapter
from requests.cookies import RequestsCookieJar
from urllib3.exceptions import HTTPError

from agent.text import urls
from agent.types import Outcome, Page, SourceFilter
from agent.web import http_outcomes, transport
from agent.web.deadline import Deadline, DeadlineExceeded
from agent.web.deadline_sockets import use_deadline
from agent.web.extract import dispatch, fast_extract
from agent.web.rate_limit import DEFAULT_PAUSE_S, HostRateLimiter, parse_retry_after
from agent.web.robots import MAX_BYTES, RobotsCache, RobotsResponse
from agent.web.ssrf_guard import FetchRefused, HostUnreachable, SsrfGuard

MAX_REDIRECTS = 10
MAX_ROBOTS_REDIRECTS = 5
MAX_ATTEMPTS = 3
MAX_WAIT_S = 3.0
"""Seconds a fetch waits for a host that asked for a rest; longer rests come back as `rate_limited`."""
_CHUNK = 64 * 1024
_REDIRECT_STATUSES = (301, 302, 303, 307, 308)
_MAX_STUB_CHARACTERS = 250
ANY_SOURCE = SourceFilter()
"""All sources."""


@dataclass
class _FetchAttempt:
    """One fetch under way."""

    url: str
    reach: SourceFilter
    watch: Deadline
    started_at: str = ""
    redirects: list[str] = field(default_factory=list)
    cookies: RequestsCookieJar = field(default_factory=RequestsCookieJar)
    skimmed: bool = False
    current_url: str = ""
    """The last address that was let through."""


@dataclass(frozen=True)
class _ResponseBody:
    status: int
    headers: requests.structures.CaseInsensitiveDict[str]
    raw: bytes = b""
    failure: tuple[Outcome, str] | None = None


class Fetcher:
    """Fetches pages through one transport. Shared by all runs of a world; safe to use from many threads."""

    def __init__(
        self, adapter: HTTPAdapter, guard: SsrfGuard, pace: HostRateLimiter, *, seconds: float, max_bytes: int
    ) -> None:
        self._adapter = adapter
        self._guard = guard
        self._pace = pace
        self._robots = RobotsCache()
        self._seconds = seconds
        self._max_bytes = max_bytes

    def fetch(
        self,
        url: str,
        *,
        reach: SourceFilter = ANY_SOURCE,
        checkpoint: Callable[[], None] = lambda: None,
        skimmed: bool = False,
    ) -> Page:
        """The page at `url`. `reach` limits the hosts, after redirects too; `skimmed` reads it at a glance
        (see `skim`).

        Raises nothing but what `checkpoint` raises."""
        watch = Deadline(self._seconds, checkpoint)
        visit = _FetchAttempt(
            url, reach, watch, started_at=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", skimmed=skimmed
        )
        with use_deadline(watch):
            return self._follow_redirects(visit)

    def close(self) -> None:
        """Let go of kept connections."""
        self._adapter.close()

    def _follow_redirects(self, visit: _FetchAttempt) -> Page:
        target = visit.url
        for _ in range(MAX_REDIRECTS + 1):
            try:
                visit.current_url = self._check_address(target, visit)
                body = self._request_with_retries(visit.current_url, visit)
                step = self._build_page_or_redirect(body, visit)
            except FetchRefused as refusal:
                return _build_failed_page(visit, Outcome.REFUSED, str(refusal))
            except _FetchFailed as stuck:
                return _build_failed_page(visit, stuck.outcome, str(stuck), stuck.status)
            if isinstance(step, Page):
                return step
            visit.redirects.append(visit.current_url)
            target = step
        return _build_failed_page(visit, Outcome.REFUSED, http_outcomes.TOO_MANY_REDIRECTS)

    def _check_address(self, url: str, visit: _FetchAttempt) -> str:
        """The address as it will be requested, when every rule of ours lets it through."""
        address = self._guard.check_url(url)
        if not visit.reach.allows(address):
            raise FetchRefused(http_outcomes.OUT_OF_SCOPE)
        rules = self._robots.get_rules(address, lambda robots: self._fetch_robots_txt(robots, visit))
        if refusal := rules.explain_refusal(address):
            raise FetchRefused(refusal)
        return address

    def _fetch_robots_txt(self, url: str, visit: _FetchAttempt) -> RobotsResponse:
        for _ in range(MAX_ROBOTS_REDIRECTS + 1):
            body = self._request_once(self._guard.check_url(url), visit, MAX_BYTES)
            if body.status in _REDIRECT_STATUSES and body.headers.get("Location"):
                url = _redirect_target(url, body)
                continue
            if body.status == 429:
                self._start_pause(url, body)
                raise _FetchFailed(
                    Outcome.RATE_LIMITED,
                    http_outcomes.describe_pause(self._pace.remaining_pause(urls.host(url))),
                    429,
                )
            return RobotsResponse(body.status, body.raw)
        return RobotsResponse(404)

    def _request_with_retries(self, url: str, visit: _FetchAttempt) -> _ResponseBody:
        """The body at one address, asked again (at most `ATTEMPTS` times) when the host says it can be had in
        a moment."""
        host = urls.host(url)
        for attempt in range(1, MAX_ATTEMPTS + 1):
            if rest := self._pace.remaining_pause(host):
                raise _FetchFailed(Outcome.RATE_LIMITED, http_outcomes.describe_pause(rest))
            body = self._request_once(url, visit, self._max_bytes)
            if not http_outcomes.is_rate_limited(body.status, body.headers):
                return body
            rest = self._start_pause(url, body)
            if attempt == MAX_ATTEMPTS or rest > MAX_WAIT_S:
                raise _FetchFailed(Outcome.RATE_LIMITED, http_outcomes.describe_pause(rest), body.status)
            self._pace.wait_out_pause(host, visit.watch)
        raise AssertionError("unreachable")

    def _start_pause(self, url: str, body: _ResponseBody) -> float:
        rest = parse_retry_after(body.headers.get("Retry-After"))
        rest = DEFAULT_PAUSE_S if rest is None else rest
        self._pace.pause_host(urls.host(url), rest)
        return rest

    def _request_once(self, url: str, visit: _FetchAttempt, limit: int) -> _ResponseBody:
        """One request; raises `Forbidden` or `_Stuck`."""
        visit.watch.check()
        delay = self._robots.get_crawl_delay(url)
        try:
            with self._pace.hold_slot(urls.host(url), visit.watch, delay=delay):
                response = transport.send_get(self._adapter, url, visit.cookies)
                try:
                    return self._read_body(response, visit.watch, limit)
                finally:
                    response.close()
        except DeadlineExceeded as late:
            raise _FetchFailed(Outcome.TIMEOUT, http_outcomes.TIMED_OUT) from late
        except HostUnreachable as gone:
            raise _FetchFailed(Outcome.ERROR, str(gone)) from gone
        except (requests.RequestException, HTTPError, OSError, ValueError) as error:
            raise _FetchFailed(*http_outcomes.explain_transport_error(error)) from error

    def _read_body(self, response: requests.Response, watch: Deadline, limit: int) -> _ResponseBody:
        status, headers = response.status_code, response.headers
        if status in _REDIRECT_STATUSES:
            return _ResponseBody(status, headers)
        if failure := http_outcomes.explain_unreadable_body(headers, self._max_bytes):
            return _ResponseBody(status, headers, failure=failure)
        parts: list[bytes] = []
        size = 0
        for chunk in response.raw.stream(_CHUNK, decode_content=True):
            watch.check()
            parts.append(chunk)
            size += len(chunk)
            if size > limit:
                break
        failure = http_outcomes.explain_too_large(self._max_bytes) if size > self._max_bytes else None
        return _ResponseBody(status, headers, b"".join(parts) if not failure else b"", failure)

    def _build_page_or_redirect(self, body: _ResponseBody, visit: _FetchAttempt) -> Page | str:
        """The finished page, or where it sends us. Raises `_Stuck`, or `Forbidden` for an address that is
        none."""
        here = visit.current_url
        if body.status in _REDIRECT_STATUSES:
            return _redirect_target(here, body)
        if failure := body.failure or http_outcomes.explain_status(body.status, body.headers):
            raise _FetchFailed(*failure, body.status)
        content_type = body.headers.get("Content-Type", "")
        read = fast_extract.extract_content_fast if visit.skimmed else dispatch.extract_content
        reading = read(body.raw, content_type, here)
        if reading.refresh_url and len(reading.text) < _MAX_STUB_CHARACTERS and reading.refresh_url != here:
            return reading.refresh_url
        return Page(
            url=visit.url,
            final_url=here,
            outcome=reading.outcome,
            detail=reading.detail,
            status=body.status,
            redirects=visit.redirects,
            content_type=content_type,
            title=reading.title,
            author=reading.author,
            published_at=reading.published_at,
            language=reading.language or body.headers.get("Content-Language", "").split(",")[0].strip()[:12],
            text=reading.text,
            headings=reading.headings,
            tables=reading.tables,
            links=reading.links,
            raw=body.raw,
            fetched_at=visit.started_at,
            sha256=hashlib.sha256(reading.text.encode()).hexdigest(),
        )


class _FetchFailed(Exception):
    """The page can't be had; carries the outcome, and a sentence as its message."""

    def __init__(self, outcome: Outcome, detail: str, status: int | None = None) -> None:
        super().__init__(detail)
        self.outcome = outcome
        self.status = status


def _redirect_target(here: str, body: _ResponseBody) -> str:
    """Where a redirect leads."""
    location = body.headers.get("Location", "")
    if not location:
        raise _FetchFailed(Outcome.ERROR, http_outcomes.REDIRECT_WITHOUT_TARGET, body.status)
    try:
        return urljoin(here, location)
    except ValueError as error:
        raise FetchRefused(http_outcomes.INVALID_REDIRECT) from error


def _build_failed_page(
    visit: _FetchAttempt, outcome: Outcome, detail: str, status: int | None = None
) -> Page:
    final = visit.current_url or visit.url
    return Page(
        url=visit.url,
        final_url=final,
        outcome=outcome,
        detail=detail,
        status=status,
        redirects=visit.redirects,
        fetched_at=visit.started_at,
    )
