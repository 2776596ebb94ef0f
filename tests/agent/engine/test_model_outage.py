"""A model that fails for good in the middle of a run, or whose replies are of no use: the run rests, says so, goes
on by itself, and nothing is lost or paid twice (trust case S5.4)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from agent.engine.model_rests import PAUSES_S, ModelRests
from agent.llm import server as server_module
from agent.llm.server import MAX_TRIES, PROBE_S, CircuitBreaker
from agent.roles.role import INSTRUCTIONS_IN_REPLY
from agent.settings import config
from agent.types import Settings, Status
from agent.workbench import Workbench
from tests.tables import by_table
from tests.waiting import wait_for
from tests.web import model_server as web
from tests.web.model_server import ModelServer, Request
from tests.web.researching_model import ASK, ROOF, SOLAR, Script, crawl, driven, role_of, workbench

pytestmark = pytest.mark.slow

DECISIONS = (ASK, crawl(ROOF))


class Outage:
    """A research model that fails at one role's calls, as long as `is_down`."""

    def __init__(self, role: str = "analyzer", status: int = 503) -> None:
        self.script, self.is_down, self.refused = Script(*DECISIONS), True, 0
        self.role, self.status = role, status

    def __call__(self, request: Request) -> web.Reply:
        if self.is_down and role_of(request.prompt) == self.role:
            self.refused += 1
            return web.status(self.status)
        return self.script.served(request)


@contextmanager
def failing(monkeypatch: pytest.MonkeyPatch, outage: Outage) -> Iterator[tuple[Workbench, list[float]]]:
    """A workbench that works in the background, and the clock of its breaker."""
    clock = [1000.0]
    monkeypatch.setattr(server_module, "CircuitBreaker", lambda: CircuitBreaker(clock=lambda: clock[0]))
    monkeypatch.setattr("agent.engine.worker.RECOVER_S", 0.01)
    monkeypatch.setattr("agent.engine.model_rests.PAUSES_S", (0.01,))
    with ModelServer(outage) as server, workbench(server) as bench:
        bench.start_workers()
        yield bench, clock


@pytest.mark.parametrize("role", ["analyzer", "decision", "report"])
def test_a_run_rests_until_its_model_answers_and_goes_on_by_itself(
    role: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, whole, _ = driven(Script(*DECISIONS))
    outage = Outage(role)
    with failing(monkeypatch, outage) as (bench, clock):
        run_id = bench.start(SOLAR, Settings(world="demo"))
        wait_for(lambda: bench.worker.rests.describe(run_id))
        before = bench.store.ledger.steps(run_id)
        assert bench.snapshot(run_id).run.status is Status.RUNNING
        told = bench.worker.rests.describe(run_id)
        assert told.startswith(f"Paused: The model's call “{role}” failed: ") and "tried again" in told
        for minute in range(1, 4):
            clock[0] += PROBE_S
            wait_for(lambda asked=minute: outage.refused == MAX_TRIES + asked)
        outage.is_down = False
        clock[0] += PROBE_S
        wait_for(lambda: bench.snapshot(run_id).run.status is Status.REVIEW)
        view = bench.snapshot(run_id)
        paid = [call.key for call in bench.calls(run_id) if call.prompt_tokens]
        assert not bench.worker.rests.describe(run_id)
    assert outage.refused == MAX_TRIES + 3, "a dead server gets one request a minute"
    assert view.steps[: len(before)] == before, "no step is lost"
    assert len(paid) == len(set(paid)) == len(whole.requests), "nothing is paid twice"
    assert view.state.answer


@pytest.mark.parametrize(("act", "rests"), [("stop", Status.STOPPED), ("drop_model", Status.REVIEW)])
def test_a_person_may_act_on_a_run_that_rests(
    act: str, rests: Status, monkeypatch: pytest.MonkeyPatch
) -> None:
    with failing(monkeypatch, Outage()) as (bench, _):
        run_id = bench.start(SOLAR, Settings(world="demo"))
        wait_for(lambda: bench.worker.rests.describe(run_id))
        bench.act(run_id, act)
        wait_for(lambda: bench.snapshot(run_id).run.status is rests)
        wait_for(lambda: not bench.worker.rests.describe(run_id))


def test_a_run_is_tried_after_growing_pauses() -> None:
    clock = [0.0]
    rests = ModelRests(clock=lambda: clock[0])
    assert rests.is_due("r") and not rests.describe("r")
    for pause in (*PAUSES_S, PAUSES_S[-1]):
        rests.note("r", "It failed.")
        clock[0] += pause - 1
        assert not rests.is_due("r") and rests.describe("r").startswith("Paused: It failed.")
        clock[0] += 1
        assert rests.is_due("r")
    assert list(PAUSES_S) == sorted(PAUSES_S) and PAUSES_S[-1] <= 300
    rests.forget("r")
    assert rests.is_due("r") and not rests.describe("r")


def test_a_run_waits_for_a_named_server_that_is_not_there_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.engine.worker.RECOVER_S", 0.01)
    monkeypatch.setattr("agent.engine.model_rests.PAUSES_S", (0.01,))
    monkeypatch.setattr("agent.llm.detect.RETRY_S", 0.05)
    with ModelServer(Script(*DECISIONS).served, models=[]) as server:
        bench = Workbench(config.read_config({"OPENAI_BASE_URL": server.url}))
        try:
            bench.start_workers()
            run_id = bench.start(SOLAR, Settings(world="demo"))
            wait_for(lambda: bench.worker.rests.describe(run_id))
            assert "offers no model" in bench.worker.rests.describe(run_id)
            assert bench.snapshot(run_id).head == 0 and not server.requests, "not a step without it"
            server.models = ["served"]
            wait_for(lambda: bench.snapshot(run_id).run.status is Status.REVIEW)
            assert bench.snapshot(run_id).state.answer.by == "model"
        finally:
            bench.shutdown()


def test_where_nobody_would_try_again_a_run_pauses_with_the_reason() -> None:
    """On the command line: `resume` tries again."""
    outage = Outage()
    with ModelServer(outage) as server, workbench(server) as bench:
        run_id = bench.start(SOLAR, Settings(world="demo"))
        assert bench.drive(run_id) is Status.PAUSED and outage.refused == MAX_TRIES
        halt = bench.snapshot(run_id).state.halt
        assert halt.kind == "model" and "The model's call “analyzer” failed" in halt.why
        outage.is_down = False
        client, _ = bench.worker.model_client("auto")
        client.breaker.ask_at_once()
        bench.act(run_id, "resume")
        assert bench.drive(run_id) is Status.REVIEW and bench.snapshot(run_id).state.answer.by == "model"


class Misbehaving(Outage):
    """A research model of which one role says what is of no use, as long as `is_down`."""

    def __init__(self, role: str, kind: str = "garbage") -> None:
        super().__init__(role)
        self.kind = kind

    def __call__(self, request: Request) -> web.Reply:
        if not self.is_down or role_of(request.prompt) != self.role:
            return self.script.served(request)
        self.refused += 1
        if self.kind == "repeats":
            told = str(request.body["messages"][0]["content"])
            line = next(line.strip() for line in told.splitlines() if len(line.strip()) >= 80)
            said = {"reasoning": line, "next_action": "send_to_hitl", "query_or_url": None}
            return web.says(json.dumps(said, ensure_ascii=False))
        return web.says("Sorry, no.", finish="content_filter" if self.kind == "declines" else "stop")


@by_table
def test_what_made_a_run_rest_is_asked_anew(role: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = Misbehaving(role, kind)
    with failing(monkeypatch, model) as (bench, _):
        run_id = bench.start(SOLAR, Settings(world="demo"))
        wait_for(lambda: bench.worker.rests.describe(run_id))
        told, asked = bench.worker.rests.describe(run_id), model.refused
        assert (INSTRUCTIONS_IN_REPLY in told) == (kind == "repeats")
        bench.worker.try_model_now(run_id)
        wait_for(lambda: model.refused >= 2 * asked)  # it is as bad as before
        wait_for(lambda: re.search(r"Tried \d+ times", bench.worker.rests.describe(run_id)))
        model.is_down = False
        bench.worker.try_model_now(run_id)
        wait_for(lambda: bench.snapshot(run_id).run.status is Status.REVIEW)
        assert bench.snapshot(run_id).state.answer.by == "model"


def test_a_run_that_paused_for_an_unusable_reply_asks_anew_when_it_is_resumed() -> None:
    model = Misbehaving("analyzer")
    with ModelServer(model) as server, workbench(server) as bench:
        run_id = bench.start(SOLAR, Settings(world="demo"))
        assert bench.drive(run_id) is Status.PAUSED
        model.is_down = False
        bench.act(run_id, "resume")
        assert bench.drive(run_id) is Status.REVIEW
