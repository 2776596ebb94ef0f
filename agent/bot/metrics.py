"""Prometheus metrics: of `reply` requests by result, gate decisions, latency and tokens, of everything else
what `agent.counters` counts; one registry a process. And what those who run the server ask it: GET /healthz
(alive), /readyz (can work), /metrics.

The numbers and details are for whoever has METRICS_TOKEN; where nobody signs in and no name for others is
set, for this machine, too. Elsewhere its address proves nothing: a proxy on it passes on what others ask."""

from __future__ import annotations

import hmac
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from agent import errors
from agent.bot.routes import RULES, KnowsName, is_loopback
from agent.counters import LABELS, read_counts
from agent.errors import TouchstoneError
from agent.export.escaping import to_one_line
from agent.types import Outcome, Usage
from agent.types.reply import AIResult
from agent.workbench import Workbench
from agent.workbenches import Workbenches

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


def render_metrics(engines: Mapping[str, bool] | None = None) -> bytes:
    """All metrics in Prometheus' text format. `engines`: whether each answered last."""
    live = CollectorRegistry()
    live.register(_Counts(engines or {}))
    return generate_latest(REGISTRY) + generate_latest(live)


def list_engine_states(benches: Iterable[Workbench]) -> dict[str, bool]:
    """Whether each engine that was asked answered last, in all workbenches that asked it."""
    up: dict[str, bool] = {}
    for bench in benches:
        for name, health in bench.worker.world("live").health.items():
            up[name] = up.get(name, True) and health.outcome in (Outcome.OK, Outcome.EMPTY)
    return up


class _Counts(Collector):
    """What was counted, and the engines."""

    def __init__(self, engines: Mapping[str, bool]) -> None:
        self._engines = engines

    def collect(self) -> Iterator[CounterMetricFamily | GaugeMetricFamily]:
        """The counts as metric families."""
        counts = read_counts()
        for name, (what, labels) in LABELS.items():
            family = CounterMetricFamily(f"touchstone_{name}", what, labels=labels)
            for (counted, values), number in counts.items():
                if counted == name:
                    family.add_metric(values, number)
            yield family
        up = GaugeMetricFamily("touchstone_engine_up", "1: the engine answered last.", labels=["engine"])
        for engine, is_up in sorted(self._engines.items()):
            up.add_metric([engine], is_up)
        yield up


log = logging.getLogger("agent.reply")
MAX_REASON_CHARS = 500
"""Characters of a reason in the log."""


@dataclass(frozen=True)
class ReplyOutcome:
    """A reply and how it was made. Silence is an error with `failed`, else a decision with its `reason`."""

    result: AIResult
    path: tuple[str, ...]
    reason: str
    failed: bool
    run_id: str = ""
    answerable: bool | None = None
    """The gate's decision; None when it was not reached or failed."""
    left_out: tuple[str, ...] = ()
    """Drafted sentences that are not posted: their quotes do not support them, or they are too long."""
    seconds: float = 0.0
    usage: Usage = field(default_factory=Usage)


def log_outcome(replied: ReplyOutcome, seconds: float) -> ReplyOutcome:
    """Write the log line and the metrics; returns the outcome with its time. A decision's reason is
    left out: a model wrote it about the conversation."""
    outcome = "success" if replied.result.should_reply else "error" if replied.failed else "skip"
    REQUESTS.labels(outcome).inc()
    LATENCY.observe(seconds)
    usage = replied.usage
    TOKENS.labels("prompt").inc(usage.prompt_tokens)
    TOKENS.labels("completion").inc(usage.completion_tokens)
    if replied.answerable is not None:
        GATE_DECISIONS.labels("answerable" if replied.answerable else "not_answerable").inc()
    kind = replied.reason.partition(":")[0]
    is_ours = not kind.isidentifier() or hasattr(errors, kind)  # else a library's words about anything
    reason = to_one_line(replied.reason[:MAX_REASON_CHARS] if is_ours else kind) if replied.failed else ""
    fields = {
        "event": "reply",
        "run": replied.run_id,
        "path": " -> ".join(replied.path),
        "should_reply": replied.result.should_reply,
        "outcome": outcome,
        "seconds": seconds,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "calls": usage.llm_calls,
        "left_out": len(replied.left_out),
        "reason": reason,
    }
    log.log(
        logging.WARNING if replied.failed else logging.INFO,
        "reply %(run)s: %(path)s; should_reply=%(should_reply)s (%(outcome)s); %(seconds).3f s, "
        "%(calls)d calls, %(prompt_tokens)d + %(completion_tokens)d tokens; %(reason)s",
        fields,
        extra=fields,
    )
    return replace(replied, seconds=seconds)


_PASSED_ON = re.compile(r"forwarded|-ip$|^via$")
"""In a header's name: a proxy passed the request on."""


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
            told = {"error": "set METRICS_TOKEN, and send it: authorization: Bearer …"}
            return JSONResponse(told, status_code=401, headers={"www-authenticate": "Bearer"})
        body = render_metrics(list_engine_states(self._open_benches().list_open()))
        return Response(body, headers={"content-type": CONTENT_TYPE_LATEST})

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
