"""Fetches one page: guard, scope, robots and rate limit on every hop; a total deadline; a limit on decoded
bytes; then its content is extracted.

Whatever the web does comes back as a Page with an outcome and a sentence; only a run's Signals are raised.
The transport is passed in (live or a folder); everything else is the same for both."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from typing import Any
from urllib.parse import urljoin

from agent.net.deadline import Deadline, NoAnswer, use_deadline
from agent.net.exchange import REDIRECT_STATUSES, AnswerTooLarge, AnswerUnusable, Reply, parse_retry_after
from agent.net.policies import MB, Policy
from agent.net.ssrf_guard import FetchRefused, SsrfGuard
from agent.text import urls
from agent.types import Outcome, Page, SourceFilter
from agent.web import http_outcomes
from agent.web.extract import dispatch
from agent.web.extract.html_page import MIN_TEXT_CHARACTERS
from agent.web.rate_limit import DEFAULT_PAUSE_S, HostRateLimiter
from agent.web.robots import MAX_BYTES, RobotsCache

log = logging.getLogger(__name__)
PAGE_HEADERS: Mapping[str, str] = {
    "Accept": "text/html,application/xhtml+xml,application/pdf;q=0.9,text/plain;q=0.9,*/*;q=0.5",
    "Accept-Language": "*",
}
MAX_ATTEMPTS = 3
MAX_WAIT_S = 3.0
"""Seconds a fetch waits for a host that asks for a pause; a longer pause comes back as `rate_limited`."""
ANY_SOURCE = SourceFilter()
Exchange = Callable[[Policy, str, Mapping[str, str]], Reply]
"""Sends a GET with these headers (`agent.net.exchange.Connections.exchange`). Raises NoAnswer."""


@dataclass
class _FetchAttempt:
    """One fetch under way; `current_url` is the last address that was let through."""

    url: str
    deadline: Deadline
    known: Page | None
    started_at: str
    redirects: list[str] = field(default_factory=list)
    cookies: dict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
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


class Fetcher:
    """Fetches pages through one transport. Shared by all runs of a world; thread-safe."""

    def __init__(self, exchange: Exchange, guard: SsrfGuard, pace: HostRateLimiter, policy: Policy) -> None:
        self._exchange, self._guard, self._pace, self._policy = exchange, guard, pace, policy
        self._robots_policy = replace(policy, purpose="a robots.txt", max_bytes=MAX_BYTES, is_cut=True)
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
        attempt = _FetchAttempt(url, deadline, known, f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}")
        try:
            with use_deadline(deadline):
                target = attempt.url
                for _ in range(http_outcomes.MAX_REDIRECTS + 1):
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
        except NoAnswer as why:
            fields = attempt.known_fields()
            detail = str(why) or http_outcomes.TIMED_OUT
            return Page(**fields, outcome=why.outcome, detail=detail, status=why.status)
        except http_outcomes.MISREAD:
            log.warning("a page could not be read", exc_info=True)
            fields = attempt.known_fields()
            return Page(**fields, outcome=Outcome.ERROR, detail=http_outcomes.UNREADABLE_RESPONSE)

    def _fetch_robots_txt(self, attempt: _FetchAttempt, url: str) -> Reply:
        for _ in range(http_outcomes.MAX_REDIRECTS + 1):
            reply = self._request_once(self._guard.check_url(url), attempt, self._robots_policy)
            if reply.status in REDIRECT_STATUSES and reply.headers.get("Location"):
                url = _redirect_target(url, reply)
            elif reply.status == HTTPStatus.TOO_MANY_REQUESTS:
                raise http_outcomes.explain_pause(self._start_pause(url, reply), reply.status)
            else:
                return reply
        return Reply(HTTPStatus.NOT_FOUND, {})

    def _request_with_retries(self, attempt: _FetchAttempt) -> Reply:
        """The reply at the current address, requested again while the host asks for a short pause."""
        url = attempt.current_url
        host = urls.host(url)
        for n in range(1, MAX_ATTEMPTS + 1):
            if pause := self._pace.remaining_pause(host):
                raise http_outcomes.explain_pause(pause)
            reply = self._request_once(url, attempt, self._policy)
            asks = reply.status == HTTPStatus.SERVICE_UNAVAILABLE and "Retry-After" in reply.headers
            if not asks and reply.status != HTTPStatus.TOO_MANY_REQUESTS:
                return reply
            pause = self._start_pause(url, reply)
            if n == MAX_ATTEMPTS or pause > MAX_WAIT_S:
                raise http_outcomes.explain_pause(pause, reply.status)
            self._pace.wait_out_pause(host, attempt.deadline)
        raise AssertionError("unreachable")

    def _start_pause(self, url: str, reply: Reply) -> float:
        asked = parse_retry_after(reply.headers.get("Retry-After"))
        pause = DEFAULT_PAUSE_S if asked is None else asked
        self._pace.pause_host(urls.host(url), pause)
        return pause

    def _request_once(self, url: str, attempt: _FetchAttempt, policy: Policy) -> Reply:
        """One request. Raises NoAnswer."""
        deadline, cookies = attempt.deadline, attempt.cookies[urls.origin(url)]
        sent = {**PAGE_HEADERS, **attempt.conditions(url)}
        if cookies:
            sent["Cookie"] = "; ".join("=".join(filter(None, cookie)) for cookie in cookies.items())
        try:
            deadline.check()
            with self._pace.hold_slot(urls.host(url), deadline, delay=self._robots.get_crawl_delay(url)):
                reply = self._exchange(policy, url, sent)
        except AnswerTooLarge as odd:
            limit = f"{policy.max_bytes / MB:g} MB"
            detail = f"The page is larger than {limit} and was not read. FETCH_MAX_MB raises the limit."
            raise NoAnswer(detail, Outcome.TOO_LARGE, odd.status) from odd
        except AnswerUnusable as odd:
            raise NoAnswer(http_outcomes.PACKED, Outcome.UNSUPPORTED, odd.status) from odd
        cookies |= reply.cookies
        return reply

    def _build_page_or_redirect(self, reply: Reply, attempt: _FetchAttempt) -> Page | str:
        """The finished page, or the address it redirects to. Raises NoAnswer."""
        here = attempt.current_url
        if reply.status in REDIRECT_STATUSES:
            return _redirect_target(here, reply)
        if reply.status == HTTPStatus.NOT_MODIFIED and attempt.known and attempt.conditions(here):
            validators = {"etag": "ETag", "last_modified": "Last-Modified"}
            newer = {name: stated for name, key in validators.items() if (stated := reply.headers.get(key))}
            return attempt.known.replace(**attempt.known_fields(), **newer)
        pages = (HTTPStatus.OK, HTTPStatus.NON_AUTHORITATIVE_INFORMATION, HTTPStatus.PARTIAL_CONTENT)
        if reply.status not in pages:
            raise http_outcomes.explain_status(reply.status, reply.headers)
        content_type = reply.headers.get("Content-Type", "")
        content = dispatch.extract_content(reply.body, content_type, here, attempt.deadline.checkpoint)
        if content.refresh_url not in ("", here) and len(content.text) < MIN_TEXT_CHARACTERS:
            return content.refresh_url
        stated = reply.headers.get("Content-Language", "").split(",")[0].strip()
        return content.to_page(
            **attempt.known_fields(),
            status=reply.status,
            content_type=content_type,
            language=content.language or stated,
            etag=reply.headers.get("ETag", ""),
            last_modified=reply.headers.get("Last-Modified", ""),
            raw=reply.body,
        )


def _redirect_target(here: str, reply: Reply) -> str:
    location = reply.headers.get("Location", "")
    if not location:
        nowhere = "The server says the page has moved but not where to. Search for its title instead."
        raise NoAnswer(nowhere, status=reply.status)
    try:
        return urljoin(here, location)
    except ValueError as error:
        advice = "Open the page yourself to see where it leads."
        detail = f"The server redirects to something that is no address. {advice}"
        raise NoAnswer(detail, status=reply.status) from error
