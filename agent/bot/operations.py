"""What those who run the server ask it: GET /healthz (alive), /readyz (can work), /metrics (Prometheus).

The numbers and details are for whoever has METRICS_TOKEN; where nobody signs in and no name for others is
set, for this machine, too. Elsewhere its address proves nothing: a proxy on it passes on what others ask."""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from agent.bot import metrics
from agent.bot.routes import RULES, KnowsName, is_loopback
from agent.errors import TouchstoneError
from agent.workbenches import Workbenches

_PASSED_ON = re.compile(r"forwarded|-ip$|^via$")
"""In a header's name: a proxy passed the request on."""
_REFUSED = "set METRICS_TOKEN, and send it: authorization: Bearer …"


class OperationsHttp:
    """The routes. `open_benches` gives the workbenches of the server."""

    def __init__(self, open_benches: Callable[[], Workbenches], is_known_name: KnowsName) -> None:
        self._open_benches, self._is_known_name = open_benches, is_known_name
        self.routes = [
            Route("/healthz", self.handle_alive, methods=RULES["/healthz"].methods),
            Route("/readyz", self.handle_ready, methods=RULES["/readyz"].methods),
            Route("/metrics", self.handle_metrics, methods=RULES["/metrics"].methods),
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
        config = self._open_benches().config
        if token := config.METRICS_TOKEN:
            given = request.headers.get("authorization", "")
            return hmac.compare_digest(given.encode(), f"Bearer {token}".encode())
        is_for_others = config.has_login or config.ALLOW_PUBLIC_WITHOUT_LOGIN or config.ALLOWED_HOSTS
        if is_for_others or any(map(_PASSED_ON.search, request.headers)):
            return False
        if not self._is_known_name(request.headers):
            return False
        name = urlsplit(f"//{request.headers['host']}").hostname or ""
        return is_loopback(name.rstrip(".")) and is_loopback((request.scope.get("client") or ("",))[0])
