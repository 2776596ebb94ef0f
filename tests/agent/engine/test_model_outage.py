"""A model server that dies in the middle of a run: the run waits, says so, goes on by itself, and nothing is
lost or paid twice (trust case S5.4)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from agent import config
from agent.llm import circuit_breaker
from agent.llm.circuit_breaker import MIN_FAILURES, PROBE_S, CircuitBreaker
from agent.types import Settings, Status
from agent.workbench import Workbench
from tests.web import model_server as web
from tests.web.model_server import ModelServer, Request
from tests.web.researching_model import ASK, ROOF, SOLAR, Script, crawl, driven, role_of, workbench

pytestmark = pytest.mark.slow

DECISIONS = (ASK, crawl(ROOF))


class Outage:
    """A research model whose server is dead from the analyzer's first call on, as long as `is_down`."""

    def __init__(self, **script: object) -> None:
        self.script, self.is_down, self.refused = Script(*DECISIONS, **script), True, 0

    def __call__(self, request: Request) -> web.Reply:
        is_probe = "This is a test." in request.prompt
        if self.is_down and (is_probe or role_of(request.prompt) == "analyzer"):
            self.refused += 1
            return web.status(503)
        return {"ok": True} if is_probe else self.script.served(request)


@contextmanager
def dead_in_the_middle(
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[tuple[Workbench, ModelServer, Outage, list[float]]]:
    """A workbench that works in the background, and the clock of its breaker."""
    clock = [1000.0]
    monkeypatch.setattr(circuit_breaker, "CircuitBreaker", lambda: CircuitBreaker(clock=lambda: clock[0]))
    monkeypatch.setattr("agent.engine.worker.RECOVER_S", 0.01)
    outage = Outage()
    with ModelServer(outage) as server, workbench(server) as bench:
        bench.start_workers()
        yield bench, server, outage, clock


def wait_for(is_met: Callable[[], object]) -> None:
    """Wait for what another thread brings about, at most 20 s."""
    pause = threading.Event()
    assert any(is_met() or pause.wait(0.01) for _ in range(2000))


def count_probes(server: ModelServer) -> int:
    return sum("This is a test." in request.prompt for request in server.requests)


def test_a_run_waits_for_its_model_and_goes_on_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    _, whole, _ = driven(Script(*DECISIONS))
    with dead_in_the_middle(monkeypatch) as (bench, server, outage, clock):
        run_id = bench.start(SOLAR, Settings(world="demo"))
        wait_for(lambda: bench.worker.describe_outage(run_id))
        before = bench.store.ledger.steps(run_id)
        assert bench.snapshot(run_id).run.status is Status.RUNNING
        assert "does not answer; it is asked again once a minute" in bench.worker.describe_outage(run_id)
        for minute in range(1, 11):
            clock[0] += PROBE_S
            wait_for(lambda asked=minute: count_probes(server) == asked)
        outage.is_down = False
        clock[0] += PROBE_S
        wait_for(lambda: bench.snapshot(run_id).run.status is Status.REVIEW)
        view = bench.snapshot(run_id)
        paid = [call.key for call in bench.calls(run_id) if call.prompt_tokens]
    assert outage.refused == MIN_FAILURES + 10, "one request a minute"
    assert view.steps[: len(before)] == before, "no step is lost"
    assert len(paid) == len(set(paid)) == len(whole.requests), "nothing is paid twice"
    assert view.state.answer


@pytest.mark.parametrize(
    ("act", "rests"),
    [
        ("stop", Status.STOPPED),
        ("drop_model", Status.REVIEW),
    ],
)
def test_a_person_may_act_on_a_run_that_waits(
    act: str, rests: Status, monkeypatch: pytest.MonkeyPatch
) -> None:
    with dead_in_the_middle(monkeypatch) as (bench, _, _, _):
        run_id = bench.start(SOLAR, Settings(world="demo"))
        wait_for(lambda: bench.worker.describe_outage(run_id))
        bench.act(run_id, act)
        wait_for(lambda: bench.snapshot(run_id).run.status is rests)
        wait_for(lambda: not bench.worker.describe_outage(run_id))


def test_a_run_waits_for_a_named_server_that_is_not_there_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.engine.worker.RECOVER_S", 0.01)
    monkeypatch.setattr("agent.llm.detect.RETRY_S", 0.05)
    with ModelServer(Script(*DECISIONS).served, models=[]) as server:
        bench = Workbench(config.read_config({"OPENAI_BASE_URL": server.url}))
        try:
            bench.start_workers()
            run_id = bench.start(SOLAR, Settings(world="demo"))
            wait_for(lambda: bench.worker.describe_outage(run_id))
            assert "offers no model" in bench.worker.describe_outage(run_id)
            assert bench.snapshot(run_id).head == 0 and not server.requests, "not a step by rules"
            server.models = ["served"]
            wait_for(lambda: bench.snapshot(run_id).run.status is Status.REVIEW)
            assert bench.snapshot(run_id).state.answer.by == "model"
        finally:
            bench.shutdown()


def test_without_a_server_in_the_background_a_run_falls_back_at_once() -> None:
    """On the command line nobody would wake it: DESIGN's fallback after a failed call, without asking on."""
    view, server, _ = driven(Outage())
    assert view.run.status is Status.REVIEW and view.state.answer
    assert len([r for r in server.requests if role_of(r.prompt) == "analyzer"]) == MIN_FAILURES
