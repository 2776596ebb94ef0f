"""One request to a service and its whole answer, within the limits of a policy (`policies`).

No redirects, no cookies, no proxy of the environment, no .netrc: a key goes to the server it was given for.
Connections are kept. What goes wrong ends the connection; no thread is left but one that looks up a name."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from math import isfinite
from typing import Any, NamedTuple

from requests.utils import DEFAULT_CA_BUNDLE_PATH
from urllib3 import HTTPHeaderDict
from urllib3.exceptions import HTTPError
from urllib3.response import BaseHTTPResponse

from agent.net.deadline import POLL_SECONDS, Deadline, NoAnswer, current_deadline, use_deadline
from agent.net.policies import MB, Policy
from agent.net.ssrf_guard import HostUnreachable, SsrfGuard
from agent.net.transport import build_pools, create_context, read_body
from agent.settings.config import USER_AGENT

READ_ENCODINGS = ("", "identity", "gzip", "x-gzip")
"""Compressions that are read: those whose unpacking can be stopped at a size."""
MAX_CONTAINERS = 200_000
"""Objects and lists in one text: three bytes of it become a hundred in memory."""
MAX_RETRY_AFTER_S = 86_400.0
"""A longer wait counts as a day."""


class AnswerUnusable(NoAnswer):
    """An answer is too large, or packed as nobody asked."""


class Reply(NamedTuple):
    """An answer, its body unpacked."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """What the body says. Raises ValueError."""
        return parse_json(self.body)


class Connections:
    """Kept connections to public servers and to `hosts`, wherever these are. Thread-safe."""

    def __init__(self, hosts: Iterable[str] = ()) -> None:
        self.guard = SsrfGuard(list(hosts))
        self._pools = build_pools(self.guard, _trusting_context())
        self.close = self._pools.clear

    def exchange(
        self,
        policy: Policy,
        url: str,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        *,
        method: str = "",
        deadline: Deadline | None = None,
    ) -> Reply:
        """The answer to a GET, or with a body to a POST, within `deadline`: else that of the thread, and the
        policy's seconds. Raises NoAnswer, and what the deadline's checkpoint raises."""
        deadline = deadline or current_deadline(policy.seconds).within(policy.seconds)
        sent = HTTPHeaderDict({"User-Agent": USER_AGENT, "Accept": "*/*"})
        sent.update({**(headers or {}), "Accept-Encoding": "gzip"})
        with use_deadline(deadline):
            deadline.check()
            try:
                answer = self._pools.urlopen(
                    method or ("GET" if body is None else "POST"),
                    url,
                    body=body,
                    headers=sent,
                    redirect=False,
                    retries=False,
                    preload_content=False,
                    timeout=POLL_SECONDS,
                )
                try:
                    return Reply(answer.status, answer.headers, _read(answer, policy, deadline))
                finally:
                    answer.close()
            except (HTTPError, OSError, ValueError) as error:  # the last: e.g. a key that no header can hold
                raise HostUnreachable("The connection failed. Try again later.") from error


def _read(answer: BaseHTTPResponse, policy: Policy, deadline: Deadline) -> bytes:
    encoding = answer.headers.get("Content-Encoding", "").strip().lower()
    if encoding not in READ_ENCODINGS:
        raise AnswerUnusable(f"Its answer came in a compression that is not read here ({encoding[:40]!r}).")
    body = read_body(answer, deadline, policy.max_bytes)
    if len(body) > policy.max_bytes:
        limit = f"{policy.max_bytes / MB:g} MB"
        raise AnswerUnusable(f"Its answer is larger than {limit}, the limit for {policy.purpose}.")
    return body


def parse_json(text: str | bytes) -> Any:
    """What JSON of a stranger says, half surrogate pairs replaced: they cannot be stored or sent on. Raises
    ValueError for what is no JSON, or nested or divided too much to be read."""
    raw = text.encode("utf-8", "replace") if isinstance(text, str) else text
    if raw.count(b"{") + raw.count(b"[") > MAX_CONTAINERS:
        raise ValueError("the JSON has too many parts")
    try:
        value = json.loads(raw.decode("utf-8-sig", "replace"))
        if b"\\ud" in raw.lower():
            value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
        return value
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None


def parse_retry_after(header: str | None, now: datetime | None = None) -> float | None:
    """The seconds that a Retry-After header asks for (RFC 9110), from 0 to a day; None when it is missing,
    unreadable or infinite."""
    value = (header or "").strip()
    try:
        seconds = float(value)
    except ValueError:
        try:
            when = parsedate_to_datetime(value)
        except (ValueError, OverflowError):
            return None
        when = when if when.tzinfo else when.replace(tzinfo=UTC)
        seconds = (when - (now or datetime.now(UTC))).total_seconds()
    return min(max(0.0, seconds), MAX_RETRY_AFTER_S) if isfinite(seconds) else None


@lru_cache(maxsize=1)
def _trusting_context() -> ssl.SSLContext:
    """The certificates of the system and those of `certifi`, read once: 20 ms."""
    context = create_context()
    context.load_default_certs()
    context.load_verify_locations(DEFAULT_CA_BUNDLE_PATH)
    return context
