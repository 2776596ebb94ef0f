"""robots.txt by RFC 9309: 4xx means no rules, 5xx means stay away, 500 KiB are read, rules are kept for a
day.

It is fetched by the caller's `read` (guarded, like any fetch)."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import quote

from protego import Protego

from agent.net.exchange import Reply
from agent.text import urls

USER_AGENT_TOKEN = "Touchstone"
MAX_BYTES = 512_000
CACHE_SECONDS = 86_400.0
FAILURE_CACHE_SECONDS = 300.0

_NEEDLESS_ESCAPE = re.compile(r"%(?=4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9ae]|2[de]|3[0-9])", re.IGNORECASE)
"""The sign before a character that no address has to escape (RFC 3986, 2.3)."""


@dataclass(frozen=True)
class RobotsRules:
    """The rules of one origin; `parsed` is empty when it has none."""

    parsed: tuple[Protego, ...]
    is_closed: bool
    expires_at: float

    def explain_refusal(self, url: str) -> str:
        """Why this address may not be fetched; "" when it may."""
        if self.is_closed:
            trouble = "The site's robots.txt could not be read because its server is in trouble"
            return f"{trouble}, which counts as a request to stay away. Try again later, or look elsewhere."
        if can_fetch(self.parsed, quote(url, safe="%/:?#[]@!$&'()*+,;=~"), USER_AGENT_TOKEN):
            return ""
        forbidden = "The site's robots.txt asks programs not to read this page."
        return f"{forbidden} Open it yourself, or look for the same elsewhere."


class RobotsCache:
    """The rules of every origin, each fetched once a day."""

    def __init__(self) -> None:
        self._rules_by_origin: dict[str, RobotsRules] = {}
        self._lock = threading.Lock()

    def get_rules(self, url: str, read: Callable[[str], Reply]) -> RobotsRules:
        """The rules for `url`'s origin, fetched by `read` (and raising as it does) when not yet known."""
        origin = urls.origin(url)
        with self._lock:
            known = self._rules_by_origin.get(origin)
        if known and known.expires_at > time.monotonic():
            return known
        answer = read(f"{origin}/robots.txt")
        is_closed, now = answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR, time.monotonic()
        is_read = HTTPStatus.OK <= answer.status < HTTPStatus.MULTIPLE_CHOICES
        rules = RobotsRules(
            parsed=parse_rules(answer.body[:MAX_BYTES]) if is_read else (),
            is_closed=is_closed,
            expires_at=now + (FAILURE_CACHE_SECONDS if is_closed else CACHE_SECONDS),
        )
        with self._lock:
            self._rules_by_origin[origin] = rules
        return rules

    def get_crawl_delay(self, url: str) -> float:
        """The gap in seconds that the site asks for, as far as its rules are known."""
        with self._lock:
            known = self._rules_by_origin.get(urls.origin(url))
        return float(known.parsed[0].crawl_delay(USER_AGENT_TOKEN) or 0.0) if known and known.parsed else 0.0


def parse_rules(body: bytes) -> tuple[Protego, ...]:
    """The rules of a robots.txt in both readings of its escapes: "%61" is "a" (RFC 9309), and it is what it
    says (Google's parser). A byte-order mark may be cut off; of a user agent's
    line its product token counts."""
    for length in (3, 2, 1):
        body = body.removeprefix(b"\xef\xbb\xbf"[:length])
    lines = body.decode("utf-8", errors="replace").splitlines()
    agent = re.compile(r"^(\s*user-?agent\s*:\s*[a-z_-]+)[^#]*", re.IGNORECASE)
    text = "\n".join(agent.sub(r"\1", line) for line in lines)
    return Protego.parse(text), Protego.parse(_NEEDLESS_ESCAPE.sub("%25", text))


def can_fetch(rules: tuple[Protego, ...], url: str, agent: str) -> bool:
    """Whether both readings allow the address, which is spelled as it is sent: in the second one no rule
    names a letter beyond ASCII."""
    literal = re.sub(r"[^\x00-\x7f]", "%25", _NEEDLESS_ESCAPE.sub("%25", url))
    return all(one.can_fetch(address, agent) for one, address in zip(rules, (url, literal), strict=False))


def list_sitemaps(text: str) -> list[str]:
    """The addresses of the sitemaps that a robots.txt names."""
    return list(Protego.parse(text).sitemaps)
