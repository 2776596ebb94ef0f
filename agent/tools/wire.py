"""The way out: a `requests` adapter whose every connection goes through the guard, to the very address it checked.

TLS and the Host header keep the name. No proxies, no .netrc, no retries, no cookies beyond one fetch. Knows nothing of
pages, robots or runs.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Mapping
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.poolmanager import PoolManager
from urllib3.util.ssl_ import create_urllib3_context

from agent.config import USER_AGENT
from agent.tools.guard import Guard
from agent.tools.sockets import WatchedTLS, current

HEADERS: Mapping[str, str] = {
    "User-Agent": USER_AGENT,
    "Accept": "text/html,application/xhtml+xml,application/pdf;q=0.9,text/plain;q=0.9,*/*;q=0.5",
    "Accept-Language": "*",
    "Accept-Encoding": "gzip",
}
"""What our fetches say. Only gzip is accepted: its decoding can be stopped at a size."""


def session(adapter: HTTPAdapter) -> requests.Session:
    """A session for one fetch: its own cookies, nothing from the machine it runs on, everything through `adapter`."""
    made = requests.Session()
    made.trust_env = False
    made.headers.clear()
    made.headers.update(HEADERS)
    made.mount("http://", adapter)
    made.mount("https://", adapter)
    return made


class GuardedAdapter(HTTPAdapter):
    """The live transport."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        super().__init__(pool_connections=64, pool_maxsize=32, max_retries=0)

    def init_poolmanager(self, connections: int, maxsize: int, block: bool = False, **kwargs: Any) -> None:
        """As in `requests`, with pools whose connections are the guard's."""
        context = create_urllib3_context()
        context.sslsocket_class = WatchedTLS
        context.verify_mode = ssl.CERT_REQUIRED
        self.poolmanager = PoolManager(num_pools=connections, maxsize=maxsize, block=block, ssl_context=context, **kwargs)
        self.poolmanager.pool_classes_by_scheme = _pools(self._guard)


def _pools(guard: Guard) -> dict[str, type[HTTPConnectionPool]]:
    class Plain(HTTPConnection):
        def _new_conn(self) -> socket.socket:
            return guard.connect(self.host, self.port, current())

    class Secure(HTTPSConnection):
        def _new_conn(self) -> socket.socket:
            return guard.connect(self.host, self.port, current())

    class PlainPool(HTTPConnectionPool):
        ConnectionCls = Plain

    class SecurePool(HTTPSConnectionPool):
        ConnectionCls = Secure

    return {"http": PlainPool, "https": SecurePool}
