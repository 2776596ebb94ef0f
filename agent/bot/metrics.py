"""Prometheus metrics: of `reply` requests by result, gate decisions, latency and tokens, of everything else
what `agent.counters` counts; one registry a process. And what those who run the server ask it: GET /healthz
(alive), /readyz (can work), /metrics.

The numbers and details are for whoever has METRICS_TOKEN; where nobody signs in and no name for others is
set, for this machine, too. Elsewhere its address proves nothing: a proxy on it passes on what others ask."""

from __future__ import annotations

import hmac
import os
import re
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import urlsplit

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Metric,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from agent.bot.routes import RULES, KnowsName, is_loopback
from agent.counters import LABELS, read_counts
from agent.errors import TouchstoneError
from agent.types import Outcome
from agent.workbench import Workbench
from agent.workbenches import Workbenches

disable_created_metrics()  # type: ignore[no-untyped-call]
REGISTRY = CollectorRegistry()
REQUESTS = Counter(
    "ai_requests_total", "Requests by result: success, skip (silence), error.", ["result"], registry=REGISTRY
)
GATE_DECISIONS = Counter(
    "ai_gate_total", "Gate decisions: answerable, not_answerable.", ["decision"], registry=REGISTRY
)
LATENCY = Histogram(
    "ai_request_seconds",
    "Seconds from request to reply or silence.",
    registry=REGISTRY,
    buckets=[2.0**n for n in range(-5, 9)],
)
TOKENS = Counter(
    "ai_tokens_total", "Tokens of model calls by kind: prompt, completion.", ["kind"], registry=REGISTRY
)
for _result in ("success", "skip", "error"):
    REQUESTS.labels(_result)
for _decision in ("answerable", "not_answerable"):
    GATE_DECISIONS.labels(_decision)


@dataclass(frozen=True)
class _OfProcess:
    """The metrics of a registry, each with the label of a process."""

    registry: CollectorRegistry
    process: str

    def collect(self) -> Iterator[Metric]:
        for metric in self.registry.collect():
            mark = {"process": self.process}
            metric.samples = [one._replace(labels={**one.labels, **mark}) for one in metric.samples]
            yield metric


def render_metrics(engines: Mapping[str, bool] | None = None, process: str = "") -> bytes:
    """All metrics in Prometheus' text format, labelled with this `process`; `engines`: did each answer?"""
    live, counts = CollectorRegistry(), read_counts()
    for name, (what, labels) in LABELS.items():
        counter = Counter(f"touchstone_{name}", what, labels, registry=live)
        for (counted, values), number in counts.items():
            if counted == name:
                counter.labels(*values).inc(number)
    up = Gauge("touchstone_engine_up", "1: the engine answered last.", ["engine"], registry=live)
    for engine, is_up in sorted((engines or {}).items()):
        up.labels(engine).set(is_up)
    registries = [_OfProcess(one, process) if process else one for one in (REGISTRY, live)]
    return b"".join(map(generate_latest, registries))


def list_engine_states(benches: Iterable[Workbench]) -> dict[str, bool]:
    """Whether each engine that was asked answered last, in all workbenches that asked it."""
    up: dict[str, bool] = {}
    for bench in benches:
        for name, health in bench.worker.world("live").health.items():
            up[name] = up.get(name, True) and health.outcome in (Outcome.OK, Outcome.EMPTY)
    return up


class OperationsHttp:
    """The routes. `open_benches` gives the workbenches of the server."""

    def __init__(self, open_benches: Callable[[], Workbenches], is_known_name: KnowsName) -> None:
        self._open_benches, self._is_known_name = open_benches, is_known_name
        self.routes = [
            # 200 as long as the server answers at all
            Route("/healthz", lambda _: JSONResponse({"status": "ok"}), methods=RULES["/healthz"].methods),
            Route("/readyz", self.handle_ready, methods=RULES["/readyz"].methods),
            Route("/metrics", self.handle_metrics, methods=RULES["/metrics"].methods),
        ]

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
        return JSONResponse(body, status_code=HTTPStatus.SERVICE_UNAVAILABLE if faults else HTTPStatus.OK)

    def handle_metrics(self, request: Request) -> Response:
        """All metrics for Prometheus, or 401."""
        if not self.is_permitted(request):
            told = {"error": "set METRICS_TOKEN, and send it: authorization: Bearer …"}
            return JSONResponse(
                told, status_code=HTTPStatus.UNAUTHORIZED, headers={"www-authenticate": "Bearer"}
            )
        benches = self._open_benches()
        process = f"{socket.gethostname()}:{os.getpid()}" if benches.config.DATABASE_URL else ""
        body = render_metrics(list_engine_states(benches.list_open()), process)
        return Response(body, headers={"content-type": CONTENT_TYPE_LATEST})

    def is_permitted(self, request: Request) -> bool:
        """May this request see numbers and details?"""
        config = self._open_benches().config
        if token := config.METRICS_TOKEN:
            given = request.headers.get("authorization", "")
            return hmac.compare_digest(given.encode(), f"Bearer {token}".encode())
        is_for_others = config.has_login or config.ALLOW_PUBLIC_WITHOUT_LOGIN or config.ALLOWED_HOSTS
        is_passed_on = any(re.search(r"forwarded|-ip$|^via$", name) for name in request.headers)  # by a proxy
        if is_for_others or is_passed_on:
            return False
        if not self._is_known_name(request.headers):
            return False
        name = urlsplit(f"//{request.headers['host']}").hostname or ""
        return is_loopback(name.rstrip(".")) and is_loopback((request.scope.get("client") or ("",))[0])
