"""A `requests` adapter that connects through the SSRF guard, to the very address that was checked.

TLS and the Host header keep the name. No proxies, no .netrc, no retries, no cookies beyond one fetch."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Mapping
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from requests.cookies import RequestsCookieJar
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.poolmanager import PoolManager
from urllib3.response import BaseHTTPResponse
from urllib3.util.ssl_ import create_urllib3_context

from agent.net.deadline import (
    BUFFER_BYTES,
    POLL_SECONDS,
    Deadline,
    DeadlineTLSSocket,
    current_deadline,
)
from agent.net.ssrf_guard import SsrfGuard
from agent.settings.config import USER_AGENT

REQUEST_HEADERS: Mapping[str, str] = {
    "User-Agent": USER_AGENT,
    "Accept": "text/html,application/xhtml+xml,application/pdf;q=0.9,text/plain;q=0.9,*/*;q=0.5",
    "Accept-Language": "*",
    "Accept-Encoding": "gzip",
}
"""Headers of our fetches. Only gzip is accepted: its decoding can be stopped at a size."""


def send_get(
    adapter: HTTPAdapter, url: str, cookies: RequestsCookieJar, conditions: Mapping[str, str] | None = None
) -> requests.Response:
    """The response to one GET, its body still to be read; its cookies are added to `cookies`. `conditions`
    are the headers of a conditional request.

    A `requests.Session` would add proxies, .netrc, hooks and redirects, at twice the CPU time. Raises what
    `requests` raises."""
    request = requests.PreparedRequest()
    request.prepare_method("GET")
    request.prepare_url(url, None)
    request.prepare_headers({**REQUEST_HEADERS, **(conditions or {})})
    if len(cookies):
        request.prepare_cookies(cookies)
    response = adapter.send(request, stream=True, timeout=POLL_SECONDS)
    cookies.update(response.cookies)
    return response


def read_body(answer: BaseHTTPResponse, deadline: Deadline, limit: int) -> bytes:
    """The decoded body, cut off soon after `limit` bytes: a longer result is a body that is too large."""
    parts: list[bytes] = []
    size = 0
    for chunk in answer.stream(BUFFER_BYTES, decode_content=True):
        deadline.check_between_reads()
        parts.append(chunk)
        size += len(chunk)
        if size > limit:
            break
    return b"".join(parts)


class GuardedAdapter(HTTPAdapter):
    """The live transport."""

    def __init__(self, guard: SsrfGuard) -> None:
        self._guard = guard
        super().__init__(max_retries=0)

    def init_poolmanager(self, *_sizes: Any, **_more: Any) -> None:
        """As in `requests`, with pools whose connections are the guard's."""
        self.poolmanager = build_pools(self._guard, create_context())


def create_context() -> ssl.SSLContext:
    """TLS over sockets that obey the deadline; it trusts nobody yet."""
    context = create_urllib3_context()
    context.sslsocket_class = DeadlineTLSSocket
    context.verify_mode = ssl.CERT_REQUIRED
    return context


def build_pools(guard: SsrfGuard, context: ssl.SSLContext) -> PoolManager:
    """Pools whose connections are the guard's."""

    def connect(connection: HTTPConnection) -> socket.socket:
        return guard.connect(connection.host, connection.port, current_deadline())

    def guarded(pool: type[HTTPConnectionPool], connection: type[HTTPConnection]) -> type[HTTPConnectionPool]:
        own = type(connection.__name__, (connection,), {"_new_conn": connect})
        return type(pool.__name__, (pool,), {"ConnectionCls": own})

    pools = PoolManager(num_pools=64, maxsize=32, ssl_context=context)
    pools.pool_classes_by_scheme = {
        "http": guarded(HTTPConnectionPool, HTTPConnection),
        "https": guarded(HTTPSConnectionPool, HTTPSConnection),
    }
    return pools
