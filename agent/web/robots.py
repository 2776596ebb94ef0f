"""robots.txt by RFC 9309: 4xx means no rules, 5xx means stay away, 500 KiB are read, rules are kept for a
day.

It is fetched by the caller's `read` (guarded, like any fetch)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from protego import Protego

USER_AGENT_TOKEN = "Touchstone"
MAX_BYTES = 500 * 1024
CACHE_SECONDS = 86_400.0
FAILURE_CACHE_SECONDS = 300.0

FORBIDS = (
    "The site's robots.txt asks programs not to read this page. Open it yourself, or look for the same "
    "elsewhere."
)
UNREADABLE = (
    "The site's robots.txt could not be read because its server is in trouble, "
    "which counts as a request to stay away. Try again later, or look elsewhere."
)


@dataclass(frozen=True)
class RobotsResponse:
    """The response to /robots.txt: its status and the beginning of its body."""

    status: int
    body: bytes = b""


@dataclass(frozen=True)
class RobotsRules:
    """The rules of one origin; `parsed` is None when it has none."""

    parsed: Protego | None = None
    is_closed: bool = False
    expires_at: float = 0.0

    def explain_refusal(self, url: str) -> str:
        """Why this address may not be fetched; "" when it may."""
        if self.is_closed:
            return UNREADABLE
        return FORBIDS if self.parsed and not self.parsed.can_fetch(url, USER_AGENT_TOKEN) else ""

    @property
    def crawl_delay_s(self) -> float:
        """The gap in seconds that the site asks for."""
        return float(self.parsed.crawl_delay(USER_AGENT_TOKEN) or 0.0) if self.parsed else 0.0


class RobotsCache:
    """The rules of every origin, each fetched once a day."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._rules_by_origin: dict[str, RobotsRules] = {}
        self._lock = threading.Lock()

    def get_rules(self, url: str, read: Callable[[str], RobotsResponse]) -> RobotsRules:
        """The rules for `url`'s origin, fetched by `read` when they are not known; raises what `read`
        raises."""
        origin = _origin(url)
        with self._lock:
            known = self._rules_by_origin.get(origin)
        if known and known.expires_at > self._clock():
            return known
        rules = self._parse_response(read(f"{origin}/robots.txt"))
        with self._lock:
            self._rules_by_origin[origin] = rules
        return rules

    def get_crawl_delay(self, url: str) -> float:
        """The gap in seconds that the site asks for, as far as its rules are known."""
        with self._lock:
            known = self._rules_by_origin.get(_origin(url))
        return known.crawl_delay_s if known else 0.0

    def _parse_response(self, answer: RobotsResponse) -> RobotsRules:
        now = self._clock()
        if answer.status >= 500:
            return RobotsRules(is_closed=True, expires_at=now + FAILURE_CACHE_SECONDS)
        if not 200 <= answer.status < 300:
            return RobotsRules(expires_at=now + CACHE_SECONDS)
        text = answer.body[:MAX_BYTES].decode("utf-8-sig", errors="replace")
        return RobotsRules(parsed=Protego.parse(text), expires_at=now + CACHE_SECONDS)


def list_sitemaps(text: str) -> list[str]:
    """The addresses of the sitemaps that a robots.txt names."""
    return list(Protego.parse(text).sitemaps)


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
