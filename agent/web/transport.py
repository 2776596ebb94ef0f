"""The way out: a `requests` adapter whose every connection goes through the guard, to the very address it
checked.

TLS and the Host header keep the name. No proxies, no .netrc, no retries, no cookies beyond one fetch. Knows
nothing of pages, robots or runs."""

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
from urllib3.util.ssl_ import create_urllib3_context

from agent.config import USER_AGENT
from agent.web.deadline import POLL_SECONDS
from agent.web.deadline_sockets import DeadlineTLSSocket, current_deadline
from agent.web.ssrf_guard import SsrfGuard

REQUEST_HEADERS: Mapping[str, str] = {
    "User-Agent": USER_AGENT,
    "Accept": "text/html,application/xhtml+xml,application/pdf;q=0.9,text/plain;q=0.9,*/*;q=0.5",
    "Accept-Language": "*",
    "Accept-Encoding": "gzip",
}
"""What our fetches say. Only gzip is accepted: its decoding can be stopped at a size."""


def send_get(adapter: HTTPAdapter, url: str, cookies: RequestsCookieJar) -> requests.Response:
    """Ask `adapter` for one address and leave the body to be read, as long as the thread's watch lets it. The
    answer's cookies join `cookies`.

    A `requests.Session` does the same and much that is not wanted here (proxies, .netrc, hooks, redirects),
    at twice our own cost. Raises what `requests` raises."""
    request = requests.PreparedRequest()
    request.prepare_method("GET")
    request.prepare_url(url, None)
    request.prepare_headers(REQUEST_HEADERS)
    if len(cookies):
        request.prepare_cookies(cookies)
    response = adapter.send(request, stream=True, timeout=POLL_SECONDS)
    cookies.update(response.cookies)
    return response


class GuardedAdapter(HTTPAdapter):
    """The live transport."""

    def __init__(self, guard: SsrfGuard) -> None:
        self._guard = guard
        super().__init__(pool_connections=64, pool_maxsize=32, max_retries=0)

    def init_poolmanager(self, connections: int, maxsize: int, block: bool = False, **kwargs: Any) -> None:
        """As in `requests`, with pools whose connections are the guard's."""
        context = create_urllib3_context()
        context.sslsocket_class = DeadlineTLSSocket
        context.verify_mode = ssl.CERT_REQUIRED
        self.poolmanager = PoolManager(
            num_pools=connections, maxsize=maxsize, block=block, ssl_context=context, **kwargs
        )
        self.poolmanager.pool_classes_by_scheme = _build_pools(self._guard)


def _build_pools(guard: SsrfGuard) -> dict[str, type[HTTPConnectionPool]]:
    class GuardedHTTPConnection(HTTPConnection):
        def _new_conn(self) -> socket.socket:
            return guard.connect(self.host, self.port, current_deadline())

    class GuardedHTTPSConnection(HTTPSConnection):
        def _new_conn(self) -> socket.socket:
            return guard.connect(self.host, self.port, current_deadline())

    class GuardedHTTPPool(HTTPConnectionPool):
        ConnectionCls = GuardedHTTPConnection

    class GuardedHTTPSPool(HTTPSConnectionPool):
        ConnectionCls = GuardedHTTPSConnection

    return {"http": GuardedHTTPPool, "https": GuardedHTTPSPool}
