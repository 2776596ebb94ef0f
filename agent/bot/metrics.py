"""Prometheus metrics: of `reply` requests by result, gate decisions, latency and tokens, of everything else
what `agent.counters` counts; one registry a process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

from agent.counters import LABELS, read_counts
from agent.types import Usage

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


def count_request(result: str, seconds: float, usage: Usage, *, answerable: bool | None) -> None:
    """Count one request. `answerable`: the gate's decision, None when it was not reached or failed."""
    REQUESTS.labels(result).inc()
    LATENCY.observe(seconds)
    TOKENS.labels("prompt").inc(usage.prompt_tokens)
    TOKENS.labels("completion").inc(usage.completion_tokens)
    if answerable is not None:
        GATE_DECISIONS.labels("answerable" if answerable else "not_answerable").inc()


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
