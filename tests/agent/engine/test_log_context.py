"""A log line of a run names the run, the step and the person, from whatever thread of the run it comes."""

from __future__ import annotations

import json
import logging
import threading

import pytest

from agent import logs
from agent.engine.side_by_side import SideBySide, WebRequest
from agent.types import Outcome, SearchResult, Settings
from agent.workbench import Workbench
from tests.records import fill


def lines(text: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture(autouse=True)
def _own_log(monkeypatch: pytest.MonkeyPatch) -> None:
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])
    monkeypatch.setattr(root, "level", root.level)


def test_a_line_of_a_step_names_run_step_and_person(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.set_up("json", "WARNING")
    bench = Workbench()
    bench.worker.person = logs.hash_person("anna")
    world = bench.worker.world("demo")
    searched = world.search

    def search(*args: object, **more: object) -> SearchResult:
        logging.getLogger("agent.test").warning("searched")
        return searched(*args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(world, "search", search)
    run = bench.start("Who wrote it?", Settings(world="demo", mode="auto", until="review"))
    bench.drive(run)
    steps = {step.n: step.name for step in bench.snapshot(run).steps}
    bench.shutdown()
    told = [line for line in lines(capsys.readouterr().err) if line["message"] == "searched"]
    assert told and all(line["run"] == run and "anna" not in str(line) for line in told)
    assert {line["person"] for line in told} == {logs.hash_person("anna")}
    assert {int(line["step"]) for line in told} <= set(steps)


def test_a_thread_that_a_run_starts_names_it_too(capsys: pytest.CaptureFixture[str]) -> None:
    logs.set_up("json", "WARNING")

    def send(request: WebRequest, _check: object) -> SearchResult:
        logging.getLogger("agent.test").warning("in %s", threading.current_thread().name)
        return fill(SearchResult, engine="x", query=request.target, outcome=Outcome.EMPTY)

    with logs.bind(run="r7", step=2):
        SideBySide(send=send, is_live=True, keep=lambda _request, _result: None).run(
            [WebRequest("q", "x")], lambda: None
        )
    (line,) = lines(capsys.readouterr().err)
    assert (line["message"], line["run"], line["step"]) == ("in side-by-side", "r7", "2")
