"""What those who run the server ask it: GET /healthz (alive), /readyz (can work), /metrics (Prometheus).

The numbers and details are for this machine or whoever has METRICS_TOKEN. A Host header proves nothing; the
address of the peer does, unless a proxy on this machine passes on the requests of others."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Sequence
from ipaddress import ip_address

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from agent.bot import metrics
from agent.bot.http import is_host_among
from agent.errors import TouchstoneError
from agent.workbenches import Workbenches

_FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip", "via")
"""Headers of a request that a proxy passes on."""
_REFUSED = "send the token of METRICS_TOKEN: authorization: Bearer …; without one only this machine may ask"


class OperationsHttp:
    """The routes. `open_benches` gives the workbenches of the server, `allowed_hosts` the names by which it
    may be called (a page elsewhere can point its own name at this machine)."""

    def __init__(
        self,
        open_benches: Callable[[], Workbenches],
        allowed_hosts: Callable[[], Sequence[str]] = lambda: ["*"],
    ) -> None:
        self._open_benches, self._allowed_hosts = open_benches, allowed_hosts
        self.routes = [
            Route("/healthz", self.handle_alive, methods=["GET"]),
            Route("/readyz", self.handle_ready, methods=["GET"]),
            Route("/metrics", self.handle_metrics, methods=["GET"]),
        ]

    def handle_alive(self, _request: Request) -> Response:
        """200 as long as the server answers at all."""
        return JSONResponse({"status": "ok"})

    def handle_ready(self, request: Request) -> Response:
        """200 when every store can be written and every worker works, else 503, with the faults for some."""
        try:
            opened = self._open_benches().list_open(working=True)
            faults = [fault for bench in opened for fault in bench.find_faults()]
        except TouchstoneError as error:
            faults = [str(error)]
        body: dict[str, object] = {"status": "not ready" if faults else "ready"}
        if self.is_permitted(request):
            body["faults"] = faults
        return JSONResponse(body, status_code=503 if faults else 200)

    def handle_metrics(self, request: Request) -> Response:
        """All metrics for Prometheus, or 401."""
        if not self.is_permitted(request):
            headers = {"www-authenticate": "Bearer"}
            return JSONResponse({"error": _REFUSED}, status_code=401, headers=headers)
        opened = self._open_benches().list_open()
        states = [state for bench in opened for state in bench.engine_states().items()]
        is_up = {name: all(up for other, up in states if other == name) for name, _ in states}
        return Response(metrics.render_metrics(is_up), headers={"content-type": metrics.CONTENT_TYPE})

    def is_permitted(self, request: Request) -> bool:
        """May this request see numbers and details?"""
        if token := self._open_benches().config.METRICS_TOKEN:
            given = request.headers.get("authorization", "")
            return hmac.compare_digest(given.encode(), f"Bearer {token}".encode())
        is_passed_on = any(name in request.headers for name in _FORWARDED)
        is_known = is_host_among(self._allowed_hosts(), request.url.hostname or "")
        return is_known and not is_passed_on and _is_this_machine(request)


def _is_this_machine(request: Request) -> bool:
    try:
        return ip_address((request.scope.get("client") or ("",))[0]).is_loopback
    except ValueError:
        return False
