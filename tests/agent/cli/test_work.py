"""`./touchstone work` drives what a process without workers starts; killed, it is followed by the next one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent.engine.worker import Worker
from agent.flows import FLOWS
from agent.settings.config import read_config
from agent.store.database import Store
from agent.types import Sentence, Settings, Status, Step
from agent.workbench import Workbench
from tests.agent.store.conftest import store as store  # a fixture
from tests.waiting import wait_for

ROOT = Path(__file__).parents[3]
FIRST = Step(n=0, name="ask", change={"question": "?"}, next="plan", by="person")
FOLLOWED = {"world": "demo", "model": "keyless"}


@contextmanager
def working(address: str, data: Path) -> Iterator[subprocess.Popen]:
    """The command as a process, which ends when it is told to."""
    own = {"DATABASE_URL": address, "TOUCHSTONE_DATA": str(data), "STEP_GAP": "0.05"}
    command = [sys.executable, "-m", "agent", "work", "--concurrency", "2"]
    made = subprocess.Popen(command, cwd=ROOT, env=os.environ | own, stderr=subprocess.PIPE, text=True)
    assert made.stderr and "2 at a time" in made.stderr.readline()
    yield made
    made.terminate()
    assert made.wait(60) in (0, -signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.parametrize("store", ["sqlite", "postgresql"], indirect=True)
def test_runs_of_a_process_without_workers_are_driven_and_taken_over(store: Store, tmp_path: Path):
    address = store.url.render_as_string(hide_password=False)
    data = tmp_path / "data"
    server = Workbench(read_config({"DATABASE_URL": address, "TOUCHSTONE_DATA": str(data), "WORKERS": "0"}))
    server.start_workers()
    assert server.worker.find_faults() == []
    runs = [
        server.start(question, Settings(**FOLLOWED)) for question in ("Who first climbed Korpnäbben?", "?!")
    ]
    assert {server.snapshot(run).run.status for run in runs} == {Status.RUNNING}
    with working(address, data) as first:
        wait_for(lambda: server.snapshot(runs[0]).head > 1)
        first.kill()
    with working(address, data):
        wait_for(lambda: Status.RUNNING not in {server.snapshot(run).run.status for run in runs})
    steps = server.store.ledger.steps(runs[0])
    assert [step.n for step in steps] == list(range(len(steps)))
    assert server.snapshot(runs[0]).run.status == Status.REVIEW
    server.shutdown()


@pytest.mark.slow
def test_a_server_with_workers_apart_drives_its_runs_in_a_process_that_it_starts_anew(tmp_path: Path):
    own = {"TOUCHSTONE_DATA": str(tmp_path / "data"), "WORKERS_APART": "true", "WORKERS": "2"}
    server = Workbench(read_config(own))
    server.start_workers()
    queue = server.worker.dispatcher
    wait_for(lambda: server.find_faults() == [])
    first = server.start("Who first climbed Korpnäbben?", Settings(**FOLLOWED))
    wait_for(lambda: server.snapshot(first).run.status is Status.REVIEW)
    child = queue._child
    child.kill()
    second = server.start("Who first climbed Korpnäbben?", Settings(**FOLLOWED))
    wait_for(lambda: server.snapshot(second).run.status is Status.REVIEW)
    assert queue._child is not child and queue.busy == set()
    owners = {step.by for step in server.store.ledger.steps(first)}
    assert owners == {"person", "code"}
    server.shutdown()
    assert queue._child.poll() is not None, "the process ends with its server"


def test_what_a_run_tells_while_it_works_elsewhere_goes_through_the_store(store: Store):
    config = read_config({})
    here, there = Worker(config, store, FLOWS), Worker(config, store, FLOWS)
    there.is_watched_from_afar = True
    run_id = store.ledger.create("?", Settings(**FOLLOWED), FIRST)
    there._note_rest(run_id, "The model does not answer.")
    assert here.describe_rest(run_id).startswith("Paused: The model does not answer.")
    there._show_checked(run_id, [Sentence(text="It is blue.", backed=True), Sentence(text="It is red.")])
    assert here.list_checked(run_id) == ["It is blue."]
    there._work(run_id)
    assert here.list_checked(run_id) == [] and here.describe_rest(run_id) == ""
    assert [key for key in store.drafts.all() if run_id in key] == []
