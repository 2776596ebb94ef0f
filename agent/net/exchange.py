"""One request to a server and its whole answer, within the limits of a policy (`policies`), over connections
that the guard makes to the very address it checked. TLS and the Host header keep the name.

No redirects, no cookies, no proxy of the environment, no .netrc, no retries: a key goes to the server it was
given for. Connections are kept. What goes wrong ends the connection; no thread is left but one that looks up
a name."""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from http import HTTPStatus
from math import isfinite
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import requests
from requests.adapters import DEFAULT_CA_BUNDLE_PATH, HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError, IncompleteRead, SSLError
from urllib3.poolmanager import PoolManager
from urllib3.response import BaseHTTPResponse
from urllib3.util.ssl_ import create_urllib3_context

from agent.net.deadline import (
    BUFFER_BYTES,
    POLL_SECONDS,
    Deadline,
    DeadlineTLSSocket,
    NoAnswer,
    current_deadline,
    use_deadline,
)
from agent.net.policies import MB, Policy
from agent.net.ssrf_guard import HostUnreachable, SsrfGuard
from agent.settings.config import USER_AGENT
from agent.types import Outcome

if TYPE_CHECKING:
    from httpx2 import BaseTransport

REDIRECT_STATUSES = (301, 302, 303, 307, 308)
MAX_CONTAINERS = 200_000
"""Objects and lists in one text: three bytes of it become a hundred in memory."""
MAX_ERROR_BYTES = 64_000
"""Read of an answer that refuses: its reason is a sentence, and a library may parse all of it."""
MAX_AWAITED = 8
"""Awaited requests at once: each holds a thread while it waits."""
MAX_RETRY_AFTER_S = 86_400.0
"""A longer wait counts as a day."""


class AnswerUnusable(NoAnswer):
    """An answer is too large, or packed as nobody asked."""


class AnswerTooLarge(AnswerUnusable):
    """It has more bytes than the policy allows."""


class Reply(NamedTuple):
    """An answer, its body unpacked; "" of a redirect, and of a refusal that is packed as nobody asked."""

    status: int
    headers: Mapping[str, str]
    body: bytes = b""
    cookies: Mapping[str, str] = MappingProxyType({})

    def json(self) -> Any:
        """What the body says. Raises ValueError."""
        return parse_json(self.body)


class Connections:
    """Kept connections to public servers and to `hosts`, wherever these are. Thread-safe."""

    def __init__(self, hosts: Iterable[str] = (), *, guard: SsrfGuard | None = None) -> None:
        self.guard = guard or SsrfGuard(list(hosts))
        self._adapter = HTTPAdapter(max_retries=0)
        self._adapter.poolmanager = _build_pools(self.guard)
        self._adapter.cert_verify = lambda *_: None  # type: ignore[method-assign] # the pools' context does
        self.close = self._adapter.close

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
        sent = {"User-Agent": USER_AGENT, "Accept": "*/*", **(headers or {}), "Accept-Encoding": "gzip"}
        with use_deadline(deadline):
            deadline.check()
            try:
                # A `requests.Session` would add proxies, .netrc, hooks and redirects, at twice the CPU time
                request = requests.PreparedRequest()
                request.prepare_method(method or ("GET" if body is None else "POST"))
                request.prepare_url(url, None)
                request.prepare_headers(sent)
                request.prepare_body(body, None)
                with self._adapter.send(request, stream=True, timeout=POLL_SECONDS) as response:
                    answer = response.raw
                    body = _read_body(answer, policy)
                    return Reply(answer.status, answer.headers, body, response.cookies.get_dict())
            except (HTTPError, OSError, ValueError) as error:  # the last: e.g. a key that no header can hold
                raise _explain_failure(error) from error


def _build_pools(guard: SsrfGuard) -> PoolManager:
    """Pools whose connections are the guard's."""

    def connect(connection: HTTPConnection) -> socket.socket:
        return guard.connect(connection.host, connection.port, current_deadline())

    pools, classes = PoolManager(num_pools=64, maxsize=32, ssl_context=trust_certificates()), {}
    kinds: dict[str, tuple[type[HTTPConnectionPool], type[HTTPConnection]]] = {
        "http": (HTTPConnectionPool, HTTPConnection),
        "https": (HTTPSConnectionPool, HTTPSConnection),
    }
    for scheme, (pool, connection) in kinds.items():
        guarded = type(connection.__name__, (connection,), {"_new_conn": connect})
        classes[scheme] = type(pool.__name__, (pool,), {"ConnectionCls": guarded})
    pools.pool_classes_by_scheme = classes
    return pools


@lru_cache(maxsize=1)
def trust_certificates() -> ssl.SSLContext:
    """TLS over sockets that obey the deadline, with the system's and `certifi`'s certificates, read once."""
    context = create_urllib3_context()
    context.sslsocket_class = DeadlineTLSSocket
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_default_certs()
    context.load_verify_locations(DEFAULT_CA_BUNDLE_PATH)
    return context


def _read_body(answer: BaseHTTPResponse, policy: Policy) -> bytes:
    if answer.status in REDIRECT_STATUSES:
        return b""
    packing = answer.headers.get("Content-Encoding", "").strip().lower()
    if packing not in ("", "identity", "gzip", "x-gzip"):  # those whose unpacking can be stopped at a size
        if answer.status >= HTTPStatus.BAD_REQUEST:  # the status says enough
            return b""
        odd = f"Its answer came in a compression that is not read here ({packing[:40]!r})."
        raise AnswerUnusable(odd, status=answer.status)
    stated = answer.headers.get("Content-Length", "")
    size = int(stated) if stated.isdecimal() and len(stated) < 20 else 0
    parts: list[bytes] = []
    if size <= policy.max_bytes or policy.is_cut:
        size = 0
        for chunk in answer.stream(BUFFER_BYTES, decode_content=True):
            parts.append(chunk)
            size += len(chunk)
            if size > policy.max_bytes:
                break
    if size > policy.max_bytes and not policy.is_cut:
        limit = f"{policy.max_bytes / MB:g} MB, the limit for {policy.purpose}"
        raise AnswerTooLarge(f"Its answer is larger than {limit}.", status=answer.status)
    return b"".join(parts)


def _explain_failure(error: Exception) -> HostUnreachable:
    """What went wrong below HTTP; of wrapped errors the cause decides. No sentence names an address."""
    chain: list[BaseException] = [error]
    while (inner := chain[-1].__cause__ or chain[-1].__context__) is not None and inner not in chain:
        chain.append(inner)
    if any(isinstance(link, TimeoutError) for link in chain):
        return HostUnreachable("The server did not answer in time. Try again later.", Outcome.TIMEOUT)
    if any(isinstance(link, SSLError) for link in chain):
        unread = "The server's certificate could not be verified, so nothing was read."
        return HostUnreachable(f"{unread} Check the address, or look elsewhere.")
    if any(isinstance(link, IncompleteRead | ConnectionError | requests.ConnectionError) for link in chain):
        return HostUnreachable("The connection broke off before the answer had come. Try again later.")
    return HostUnreachable("The server's answer could not be understood. Try again later, or look elsewhere.")


def make_transport(connections: Connections, policy: Policy) -> BaseTransport:
    """What a client of `httpx2` (OpenAI's library, the login's) sends its requests with: within the limits of
    a policy. One that waits is held by its thread's deadline, one that awaits by the policy's. Raises what
    `Connections.exchange` raises."""
    import anyio.to_thread
    import httpx2  # it takes a tenth of a second, so it is imported for the first client

    limiter = anyio.CapacityLimiter(MAX_AWAITED)

    class ExchangeTransport(httpx2.BaseTransport, httpx2.AsyncBaseTransport):
        def handle_request(self, request: httpx2.Request) -> httpx2.Response:
            reply = connections.exchange(
                policy,
                str(request.url),
                request.headers,
                request.content,
                method=request.method,
                deadline=current_deadline(),
            )
            packed = ("content-encoding", "content-length", "transfer-encoding")
            kept = [(name, value) for name, value in reply.headers.items() if name.lower() not in packed]
            body = reply.body[:MAX_ERROR_BYTES] if reply.status >= HTTPStatus.BAD_REQUEST else reply.body
            answer = httpx2.Response(reply.status, headers=kept, content=body)
            answer.encoding = "utf-8"  # JSON is; a server could name a codec that never ends
            return answer

        def close(self) -> None:
            connections.close()

        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            await request.aread()

            def send() -> httpx2.Response:
                with use_deadline(Deadline(policy.seconds)):
                    return self.handle_request(request)

            return await anyio.to_thread.run_sync(send, limiter=limiter)

    return ExchangeTransport()


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
    """The seconds that Retry-After asks for (RFC 9110), 0 to a day; None for none or an unreadable one."""
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
