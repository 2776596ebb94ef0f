"""Runs of people who sign in, handed out by one queue to any process, in a schema of PostgreSQL each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agent.batch import schedules
from agent.errors import NotFound
from agent.settings.config import read_config
from agent.types import Settings, Status
from agent.workbenches import Workbenches
from tests.conftest import create_postgres
from tests.waiting import wait_for
from tests.web.login import LOGIN, sign_in

pytestmark = pytest.mark.slow

DEMO = Settings(world="demo", model="keyless")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Workbenches]:
    """A web server that drives no run itself."""
    for address in create_postgres():
        for name, value in {**LOGIN, "DATABASE_URL": address, "WORKERS": "0"}.items():
            monkeypatch.setenv(name, value)
        opened = Workbenches(read_config())
        opened.start()
        yield opened
        opened.close()


@pytest.fixture
def worker(server: Workbenches) -> Iterator[Workbenches]:
    """What `./touchstone work` opens; it drives nothing before its start."""
    opened = Workbenches(read_config({"WORKERS": "2"}))
    yield opened
    opened.close()


def test_a_worker_drives_the_runs_of_all_people_in_their_own_schemas(
    server: Workbenches, worker: Workbenches
) -> None:
    runs = {
        name: server.open(sign_in(server, name)).start("When did the Stenfors bridge reopen?", DEMO)
        for name in ("ann", "bo", "cy")
    }
    assert all(server.open(sign_in(server, name)).snapshot(run).head == 0 for name, run in runs.items())
    worker.start()
    for name, run_id in runs.items():
        bench = server.open(sign_in(server, name))
        wait_for(lambda bench=bench, run_id=run_id: bench.snapshot(run_id).run.status is Status.REVIEW)
        assert [run.id for run in bench.runs()] == [run_id], "nobody sees the runs of another"


def test_a_worker_leaves_the_runs_of_who_is_blocked_and_finds_them_when_they_are_let_in(
    server: Workbenches, worker: Workbenches, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, bo = sign_in(server, "ann"), sign_in(server, "bo")
    run_id = server.open(bo).start("When did the Stenfors bridge reopen?", DEMO)
    monkeypatch.setattr(worker._closing, "wait", lambda _timeout: True)
    assert worker.open(bo) in worker.list_open(working=True)
    server.shut_out(ann, bo.id)
    assert worker._take_ticket(bo.id, run_id) is None
    worker._keep_house()
    assert not worker.list_open(), "this process knows now, too"
    monkeypatch.undo()
    server.accounts.people.set_blocked(ann, bo.id, blocked=False)
    worker.start()
    bench = server.open(server.accounts.people.get(bo.id))
    wait_for(lambda: bench.snapshot(run_id).run.status is Status.REVIEW)


def test_a_worker_looks_after_the_library_of_who_works_on_a_server_without_workers(
    server: Workbenches, worker: Workbenches
) -> None:
    worker.start()
    bo = sign_in(server, "bo")
    server.open(bo)
    wait_for(lambda: [bench.worker.limits.owner for bench in worker.list_open()] == [bo.id])


def test_a_worker_opens_the_store_of_a_person_whose_schedule_is_due(
    server: Workbenches, worker: Workbenches
) -> None:
    bench = server.open(sign_in(server, "bo"))
    schedules.create(bench, "When did the Stenfors bridge reopen?", DEMO, when="daily", zone="UTC")
    [made] = bench.store.schedules.list_newest()
    bench.store.schedules.move(made.id, lambda *_: {"next_at": 1.0})
    worker.start()
    wait_for(lambda: [run.status for run in bench.runs()] == [Status.REVIEW])


def test_deleted_data_leaves_an_empty_store_to_the_processes_that_hold_it_open(
    server: Workbenches, worker: Workbenches
) -> None:
    sign_in(server, "ann")
    bo = sign_in(server, "bo")
    run_id = server.open(bo).start("When did the Stenfors bridge reopen?", DEMO)
    elsewhere = worker.open(bo)
    server.delete_data(bo)
    assert elsewhere.runs() == [] and elsewhere.store.draft("x", "y") == "y"
    worker.start()
    later = server.open(bo).start("When did the Stenfors bridge reopen?", DEMO)
    wait_for(lambda: server.open(bo).snapshot(later).run.status is Status.REVIEW)
    with pytest.raises(NotFound):
        elsewhere.snapshot(run_id)
