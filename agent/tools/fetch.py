"""One page, politely: guard, scope, robots and pace on every hop; a total deadline; a cap on decoded bytes; then its text.

Whatever the web does comes back as a Page with an outcome and a sentence; only a run's Signals are raised. The transport is
given (live or a folder), everything else is the same for both.
"""

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

from agent import urls
from agent.tools import answers, extract, skim, wire
from agent.tools.guard import Forbidden, Guard, Unreachable
from agent.tools.pace import DEFAULT_REST, Pace, asked
from agent.tools.robots import MAX_BYTES, Answer, Robots
from agent.tools.sockets import watching
from agent.tools.watch import Late, Watch
from agent.types import Outcome, Page, Reach

MAX_HOPS = 10
ROBOTS_HOPS = 5
ATTEMPTS = 3
MAX_PATIENCE = 3.0
"""Seconds a fetch waits for a host that asked for a rest; longer rests come back as `rate_limited`."""
_CHUNK = 64 * 1024
_REDIRECTS = (301, 302, 303, 307, 308)
_SHORT = 250
ANYWHERE = Reach()
"""All sources."""


@dataclass
class _Visit:
    """One fetch under way."""

    url: str
    reach: Reach
    watch: Watch
    at: str = ""
    redirects: list[str] = field(default_factory=list)
    cookies: RequestsCookieJar = field(default_factory=RequestsCookieJar)
    skimmed: bool = False
    here: str = ""
    """The last address that was let through."""


@dataclass(frozen=True)
class _Body:
    status: int
    headers: requests.structures.CaseInsensitiveDict[str]
    raw: bytes = b""
    failure: tuple[Outcome, str] | None = None


class Fetcher:
    """Fetches pages through one transport. Shared by all runs of a world; safe to use from many threads."""

    def __init__(self, adapter: HTTPAdapter, guard: Guard, pace: Pace, *, seconds: float, max_bytes: int) -> None:
        self._adapter = adapter
        self._guard = guard
        self._pace = pace
        self._robots = Robots()
        self._seconds = seconds
        self._max_bytes = max_bytes

    def fetch(self, url: str, *, reach: Reach = ANYWHERE, checkpoint: Callable[[], None] = lambda: None, skimmed: bool = False) -> Page:
        """The page at `url`. `reach` limits the hosts, after redirects too; `skimmed` reads it at a glance (see `skim`).

        Raises nothing but what `checkpoint` raises.
        """
        watch = Watch(self._seconds, checkpoint)
        visit = _Visit(url, reach, watch, at=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", skimmed=skimmed)
        with watching(watch):
            return self._follow(visit)

    def close(self) -> None:
        """Let go of kept connections."""
        self._adapter.close()

    def _follow(self, visit: _Visit) -> Page:
        target = visit.url
        for _ in range(MAX_HOPS + 1):
            try:
                visit.here = self._admit(target, visit)
                body = self._ask(visit.here, visit)
                step = self._judge(body, visit)
            except Forbidden as refusal:
                return _failed(visit, Outcome.REFUSED, str(refusal))
            except _Stuck as stuck:
                return _failed(visit, stuck.outcome, str(stuck), stuck.status)
            if isinstance(step, Page):
                return step
            visit.redirects.append(visit.here)
            target = step
        return _failed(visit, Outcome.REFUSED, answers.CIRCLES)

    def _admit(self, url: str, visit: _Visit) -> str:
        """The address as it will be requested, when every rule of ours lets it through."""
        address = self._guard.admit(url)
        if not visit.reach.admits(address):
            raise Forbidden(answers.OUT_OF_SCOPE)
        rules = self._robots.rules(address, lambda robots: self._robots_txt(robots, visit))
        if refusal := rules.refusal(address):
            raise Forbidden(refusal)
        return address

    def _robots_txt(self, url: str, visit: _Visit) -> Answer:
        for _ in range(ROBOTS_HOPS + 1):
            body = self._once(self._guard.admit(url), visit, MAX_BYTES)
            if body.status in _REDIRECTS and body.headers.get("Location"):
                url = _target(url, body)
                continue
            if body.status == 429:
                self._rest(url, body)
                raise _Stuck(Outcome.RATE_LIMITED, answers.resting(self._pace.cooling(urls.host(url))), 429)
            return Answer(body.status, body.raw)
        return Answer(404)

    def _ask(self, url: str, visit: _Visit) -> _Body:
        """The body at one address, asked again (at most `ATTEMPTS` times) when the host says it can be had in a moment."""
        host = urls.host(url)
        for attempt in range(1, ATTEMPTS + 1):
            if rest := self._pace.cooling(host):
                raise _Stuck(Outcome.RATE_LIMITED, answers.resting(rest))
            body = self._once(url, visit, self._max_bytes)
            if not answers.asks_for_rest(body.status, body.headers):
                return body
            rest = self._rest(url, body)
            if attempt == ATTEMPTS or rest > MAX_PATIENCE:
                raise _Stuck(Outcome.RATE_LIMITED, answers.resting(rest), body.status)
            self._pace.wait(host, visit.watch)
        raise AssertionError("unreachable")

    def _rest(self, url: str, body: _Body) -> float:
        rest = asked(body.headers.get("Retry-After"))
        rest = DEFAULT_REST if rest is None else rest
        self._pace.cool(urls.host(url), rest)
        return rest

    def _once(self, url: str, visit: _Visit, limit: int) -> _Body:
        """One request; raises `Forbidden` or `_Stuck`."""
        visit.watch.tick()
        delay = self._robots.delay(url)
        try:
            with self._pace.turn(urls.host(url), visit.watch, delay=delay):
                response = wire.get(self._adapter, url, visit.cookies)
                try:
                    return self._take(response, visit.watch, limit)
                finally:
                    response.close()
        except Late as late:
            raise _Stuck(Outcome.TIMEOUT, answers.LATE) from late
        except Unreachable as gone:
            raise _Stuck(Outcome.ERROR, str(gone)) from gone
        except (requests.RequestException, HTTPError, OSError, ValueError) as error:
            raise _Stuck(*answers.transport(error)) from error

    def _take(self, response: requests.Response, watch: Watch, limit: int) -> _Body:
        status, headers = response.status_code, response.headers
        if status in _REDIRECTS:
            return _Body(status, headers)
        if failure := answers.unreadable(headers, self._max_bytes):
            return _Body(status, headers, failure=failure)
        parts: list[bytes] = []
        size = 0
        for chunk in response.raw.stream(_CHUNK, decode_content=True):
            watch.tick()
            parts.append(chunk)
            size += len(chunk)
            if size > limit:
                break
        failure = answers.too_large(self._max_bytes) if size > self._max_bytes else None
        return _Body(status, headers, b"".join(parts) if not failure else b"", failure)

    def _judge(self, body: _Body, visit: _Visit) -> Page | str:
        """The finished page, or where it sends us. Raises `_Stuck`, or `Forbidden` for an address that is none."""
        here = visit.here
        if body.status in _REDIRECTS:
            return _target(here, body)
        if failure := body.failure or answers.by_status(body.status, body.headers):
            raise _Stuck(*failure, body.status)
        content_type = body.headers.get("Content-Type", "")
        read = skim.read if visit.skimmed else extract.read
        reading = read(body.raw, content_type, here)
        if reading.refresh and len(reading.text) < _SHORT and reading.refresh != here:
            return reading.refresh
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
            fetched_at=visit.at,
            sha256=hashlib.sha256(reading.text.encode()).hexdigest(),
        )


class _Stuck(Exception):
    """The page can't be had; carries the outcome, and a sentence as its message."""

    def __init__(self, outcome: Outcome, detail: str, status: int | None = None) -> None:
        super().__init__(detail)
        self.outcome = outcome
        self.status = status


def _target(here: str, body: _Body) -> str:
    """Where a redirect leads."""
    location = body.headers.get("Location", "")
    if not location:
        raise _Stuck(Outcome.ERROR, answers.NOWHERE, body.status)
    try:
        return urljoin(here, location)
    except ValueError as error:
        raise Forbidden(answers.NOT_AN_ADDRESS) from error


def _failed(visit: _Visit, outcome: Outcome, detail: str, status: int | None = None) -> Page:
    final = visit.here or visit.url
    return Page(
        url=visit.url,
        final_url=final,
        outcome=outcome,
        detail=detail,
        status=status,
        redirects=visit.redirects,
        fetched_at=visit.at,
    )
