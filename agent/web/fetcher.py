"""Fetches one page: guard, scope, robots and rate limit on every hop; a total deadline; a limit on decoded
bytes; then its content is extracted.

Whatever the web does comes back as a Page with an outcome and a sentence; only a run's Signals are raised.
The transport is passed in (live or a folder); everything else is the same for both."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from typing import Any
from urllib.parse import urljoin

import requests
from requests.adapters import HTTPAdapter
from requests.cookies import RequestsCookieJar
from urllib3.exceptions import HTTPError

from agent.net import transport
from agent.net.deadline import Deadline, DeadlineExceeded, use_deadline
from agent.net.exchange import READ_ENCODINGS, parse_retry_after
from agent.net.policies import Policy
from agent.net.ssrf_guard import FetchRefused, HostUnreachable, SsrfGuard
from agent.text import urls
from agent.types import Outcome, Page, SourceFilter
from agent.web import http_outcomes
from agent.web.extract import dispatch
from agent.web.http_outcomes import MAX_REDIRECTS, REDIRECT_STATUSES, Failure
from agent.web.rate_limit import DEFAULT_PAUSE_S, HostRateLimiter
from agent.web.robots import MAX_BYTES, RobotsCache, RobotsResponse

log = logging.getLogger(__name__)
MAX_ATTEMPTS = 3
MAX_WAIT_S = 3.0
"""Seconds a fetch waits for a host that asks for a pause; a longer pause comes back as `rate_limited`."""
_MAX_STUB_CHARACTERS = 250
"""A page with less text that redirects within seconds is only a redirect."""
ANY_SOURCE = SourceFilter()


@dataclass
class _FetchAttempt:
    """One fetch under way; `current_url` is the last address that was let through."""

    url: str
    reach: SourceFilter
    deadline: Deadline
    known: Page | None
    started_at: str
    redirects: list[str] = field(default_factory=list)
    cookies: dict[str, RequestsCookieJar] = field(default_factory=lambda: defaultdict(RequestsCookieJar))
    """By the origin that set them: no other one gets them, whatever domain they name."""
    current_url: str = ""

    def known_fields(self) -> dict[str, Any]:
        """The fields of a page that every end of the fetch has."""
        return {
            "url": self.url,
            "final_url": self.current_url or self.url,
            "redirects": self.redirects,
            "fetched_at": self.started_at,
        }

    def conditions(self, url: str) -> dict[str, str]:
        """The headers that ask for the page at `url` only if it is no longer the known one (RFC 9110, 13)."""
        if self.known is None or self.known.final_url != url:
            return {}
        stated = {"If-None-Match": self.known.etag, "If-Modified-Since": self.known.last_modified}
        return {name: value for name, value in stated.items() if value}


@dataclass(frozen=True)
class _ResponseBody:
    status: int
    headers: requests.structures.CaseInsensitiveDict[str]
    raw: bytes = b""
    failure: Failure | None = None


class _FetchFailed(Exception):
    """There is no page: the outcome, a sentence as its message, and the status if there was one."""

    def __init__(self, outcome: Outcome, detail: str, status: int | None = None) -> None:
        super().__init__(detail)
        self.outcome = outcome
        self.status = status


class Fetcher:
    """Fetches pages through one transport. Shared by all runs of a world; thread-safe."""

    def __init__(self, adapter: HTTPAdapter, guard: SsrfGuard, pace: HostRateLimiter, policy: Policy) -> None:
        self._adapter, self._guard, self._pace, self._policy = adapter, guard, pace, policy
        self._robots = RobotsCache()

    def fetch(
        self,
        url: str,
        *,
        reach: SourceFilter = ANY_SOURCE,
        checkpoint: Callable[[], None] = lambda: None,
        known: Page | None = None,
    ) -> Page:
        """The page at `url`. `reach` limits the hosts, after redirects too. `known` is what this address gave
        before: where the server says that it did not change, it comes back with its new time of fetching.

        Raises nothing but what `checkpoint` raises."""
        deadline = Deadline(self._policy.seconds, checkpoint)
        attempt = _FetchAttempt(url, reach, deadline, known, f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}")
        try:
            with use_deadline(deadline):
                target = attempt.url
                for _ in range(MAX_REDIRECTS + 1):
                    address = self._guard.check_url(target)
                    if not reach.allows(address):
                        raise FetchRefused(http_outcomes.OUT_OF_SCOPE)
                    rules = self._robots.get_rules(address, partial(self._fetch_robots_txt, attempt))
                    if forbidden := rules.explain_refusal(address):
                        raise FetchRefused(forbidden)
                    attempt.current_url = address
                    page = self._build_page_or_redirect(self._request_with_retries(attempt), attempt)
                    if isinstance(page, Page):
                        return page
                    attempt.redirects.append(attempt.current_url)
                    target = page
                advice = "Open it yourself to see where it leads."
                raise FetchRefused(f"The address redirects more than ten times. {advice}")
        except FetchRefused as refusal:
            return Page(**attempt.known_fields(), outcome=Outcome.REFUSED, detail=str(refusal))
        except _FetchFailed as failed:
            fields = attempt.known_fields()
            return Page(**fields, outcome=failed.outcome, detail=str(failed), status=failed.status)
        except http_outcomes.MISREAD:
            log.warning("a page could not be read", exc_info=True)
            fields = attempt.known_fields()
            return Page(**fields, outcome=Outcome.ERROR, detail=http_outcomes.UNREADABLE_RESPONSE)

    def close(self) -> None:
        """Close the kept connections."""
        self._adapter.close()

    def _fetch_robots_txt(self, attempt: _FetchAttempt, url: str) -> RobotsResponse:
        for _ in range(MAX_REDIRECTS + 1):
            body = self._request_once(self._guard.check_url(url), attempt, MAX_BYTES)
            if body.status in REDIRECT_STATUSES and body.headers.get("Location"):
                url = _redirect_target(url, body)
            elif body.status == HTTPStatus.TOO_MANY_REQUESTS:
                self._start_pause(url, body)
                pause = self._pace.remaining_pause(urls.host(url))
                raise _FetchFailed(Outcome.RATE_LIMITED, http_outcomes.describe_pause(pause), body.status)
            else:
                return RobotsResponse(body.status, body.raw)
        return RobotsResponse(HTTPStatus.NOT_FOUND)

    def _request_with_retries(self, attempt: _FetchAttempt) -> _ResponseBody:
        """The body at the current address, requested again while the host asks for a short pause."""
        url = attempt.current_url
        host = urls.host(url)
        for n in range(1, MAX_ATTEMPTS + 1):
            if pause := self._pace.remaining_pause(host):
                raise _FetchFailed(Outcome.RATE_LIMITED, http_outcomes.describe_pause(pause))
            body = self._request_once(url, attempt, self._policy.max_bytes)
            asks = body.status == HTTPStatus.SERVICE_UNAVAILABLE and "Retry-After" in body.headers
            if not asks and body.status != HTTPStatus.TOO_MANY_REQUESTS:
                return body
            pause = self._start_pause(url, body)
            if n == MAX_ATTEMPTS or pause > MAX_WAIT_S:
                raise _FetchFailed(Outcome.RATE_LIMITED, http_outcomes.describe_pause(pause), body.status)
            self._pace.wait_out_pause(host, attempt.deadline)
        raise AssertionError("unreachable")

    def _start_pause(self, url: str, body: _ResponseBody) -> float:
        asked = parse_retry_after(body.headers.get("Retry-After"))
        pause = DEFAULT_PAUSE_S if asked is None else asked
        self._pace.pause_host(urls.host(url), pause)
        return pause

    def _request_once(self, url: str, attempt: _FetchAttempt, limit: int) -> _ResponseBody:
        """One request; raises FetchRefused or _FetchFailed."""
        deadline = attempt.deadline
        try:
            deadline.check()
            with self._pace.hold_slot(urls.host(url), deadline, delay=self._robots.get_crawl_delay(url)):
                conditions = attempt.conditions(url)
                response = transport.send_get(
                    self._adapter, url, attempt.cookies[urls.origin(url)], conditions
                )
                try:
                    return self._read_body(response, deadline, limit)
                finally:
                    response.close()
        except DeadlineExceeded as late:
            raise _FetchFailed(Outcome.TIMEOUT, http_outcomes.TIMED_OUT) from late
        except HostUnreachable as error:
            raise _FetchFailed(Outcome.ERROR, str(error)) from error
        except (requests.RequestException, HTTPError, OSError, ValueError) as error:
            raise _FetchFailed(*http_outcomes.explain_transport_error(error)) from error

    def _read_body(self, response: requests.Response, deadline: Deadline, limit: int) -> _ResponseBody:
        status, headers, most = response.status_code, response.headers, self._policy.max_bytes
        if status in REDIRECT_STATUSES:
            return _ResponseBody(status, headers)
        if headers.get("Content-Encoding", "").strip().lower() not in READ_ENCODINGS:
            return _ResponseBody(status, headers, failure=http_outcomes.PACKED)
        length, raw = headers.get("Content-Length", ""), b""
        is_too_large = length.isdecimal() and len(length) < 20 and int(length) > most
        if not is_too_large:
            raw = transport.read_body(response.raw, deadline, limit)
        if is_too_large or len(raw) > most:
            return _ResponseBody(status, headers, failure=http_outcomes.explain_too_large(most))
        return _ResponseBody(status, headers, raw)

    def _build_page_or_redirect(self, body: _ResponseBody, attempt: _FetchAttempt) -> Page | str:
        """The finished page, or the address it redirects to. Raises _FetchFailed or FetchRefused."""
        here = attempt.current_url
        if body.status in REDIRECT_STATUSES:
            return _redirect_target(here, body)
        if body.status == HTTPStatus.NOT_MODIFIED and attempt.known and attempt.conditions(here):
            validators = {"etag": "ETag", "last_modified": "Last-Modified"}
            newer = {name: stated for name, key in validators.items() if (stated := body.headers.get(key))}
            return attempt.known.replace(**attempt.known_fields(), **newer)
        if failure := body.failure or http_outcomes.explain_status(body.status, body.headers):
            raise _FetchFailed(*failure, body.status)
        content_type = body.headers.get("Content-Type", "")
        content = dispatch.extract_content(body.raw, content_type, here, attempt.deadline.checkpoint)
        if content.refresh_url not in ("", here) and len(content.text) < _MAX_STUB_CHARACTERS:
            return content.refresh_url
        stated = body.headers.get("Content-Language", "").split(",")[0].strip()[:12]
        return content.to_page(
            **attempt.known_fields(),
            status=body.status,
            content_type=content_type,
            language=content.language or stated,
            etag=body.headers.get("ETag", ""),
            last_modified=body.headers.get("Last-Modified", ""),
            raw=body.raw,
        )


def _redirect_target(here: str, body: _ResponseBody) -> str:
    location = body.headers.get("Location", "")
    if not location:
        nowhere = "The server says the page has moved but not where to. Search for its title instead."
        raise _FetchFailed(Outcome.ERROR, nowhere, body.status)
    try:
        return urljoin(here, location)
    except ValueError as error:
        advice = "Open the page yourself to see where it leads."
        detail = f"The server redirects to something that is no address. {advice}"
        raise _FetchFailed(Outcome.ERROR, detail, body.status) from error
