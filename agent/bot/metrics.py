"""Prometheus metrics: of `reply` requests by result, gate decisions, latency and tokens, of everything else
what `agent.counters` counts; one registry a process."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

from agent import errors
from agent.counters import LABELS, read_counts
from agent.export.escaping import to_one_line
from agent.types import Usage
from agent.types.reply import AIResult

CONTENT_TYPE = CONTENT_TYPE_LATEST
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
    buckets=(0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300),
)
TOKENS = Counter(
    "ai_tokens_total", "Tokens of model calls by kind: prompt, completion.", ["kind"], registry=REGISTRY
)

for _result in ("success", "skip", "error"):
    REQUESTS.labels(_result)
for _decision in ("answerable", "not_answerable"):
    GATE_DECISIONS.labels(_decision)


def render_metrics(engines: Mapping[str, bool] | None = None) -> bytes:
    """All metrics in Prometheus' text format (CONTENT_TYPE). `engines`: whether each answered last."""
    live = CollectorRegistry()
    live.register(_Counts(engines or {}))
    return generate_latest(REGISTRY) + generate_latest(live)


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


# The outcome of a request to `reply`, its log line and its metrics.

log = logging.getLogger("agent.reply")
MAX_REASON_CHARS = 500
"""Characters of a reason in the log."""


@dataclass(frozen=True)
class ReplyOutcome:
    """A reply and how it was made. Silence is an error with `failed`, else a decision with its `reason`."""

    result: AIResult
    run_id: str = ""
    path: tuple[str, ...] = ()
    reason: str = ""
    failed: bool = False
    answerable: bool | None = None
    seconds: float = 0.0
    usage: Usage = field(default_factory=Usage)


def log_outcome(replied: ReplyOutcome, seconds: float) -> ReplyOutcome:
    """Write the log line and the metrics; returns the outcome with its time. A decision's reason is
    left out: a model wrote it about the conversation."""
    outcome = "success" if replied.result.should_reply else "error" if replied.failed else "skip"
    # Count one request. `answerable`: the gate's decision, None when it was not reached or failed
    REQUESTS.labels(outcome).inc()
    LATENCY.observe(seconds)
    TOKENS.labels("prompt").inc(replied.usage.prompt_tokens)
    TOKENS.labels("completion").inc(replied.usage.completion_tokens)
    if replied.answerable is not None:
        GATE_DECISIONS.labels("answerable" if replied.answerable else "not_answerable").inc()
    usage = replied.usage
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
        "reason": reason,
    }
    log.log(
        logging.WARNING if replied.failed else logging.INFO,
        "reply %(run)s: %(path)s; should_reply=%(should_reply)s (%(outcome)s); %(seconds).3f s, "
        "%(calls)d calls, %(prompt_tokens)d + %(completion_tokens)d tokens; %(reason)s",
        fields,
        extra=fields,
    )
    return ReplyOutcome(**{**replied.__dict__, "seconds": seconds})
