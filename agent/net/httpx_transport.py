"""Clients of `httpx2` (OpenAI's library, the login's) over our own exchange. `httpx2` takes a tenth of a
second to import, so it is imported for the first one."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from agent.net.deadline import Deadline, current_deadline, use_deadline
from agent.net.exchange import Connections
from agent.net.policies import Policy

if TYPE_CHECKING:
    from httpx2 import BaseTransport

MAX_ERROR_BYTES = 64_000
"""Read of an answer that refuses: its reason is a sentence, and a library may parse all of it."""
MAX_AWAITED = 8
"""Awaited requests at once: each holds a thread while it waits."""
_UNPACKED = ("content-encoding", "content-length", "transfer-encoding")


def make_transport(connections: Connections, policy: Policy) -> BaseTransport:
    """What a client sends its requests with: within the limits of a policy. One that waits is held by its
    thread's deadline, one that awaits by the policy's. Raises what `Connections.exchange` raises."""
    import anyio.to_thread
    import httpx2

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
            kept = [(name, value) for name, value in reply.headers.items() if name.lower() not in _UNPACKED]
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
