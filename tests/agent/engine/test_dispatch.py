"""The queue in PostgreSQL: a step and its ticket commit together, tickets of the dead are handed out again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import text

from agent.engine.dispatch import QueueDispatcher
from agent.engine.worker import Worker
from agent.errors import StoreError
from agent.flows import FLOWS
from agent.settings.config import read_config
from agent.store.database import Store
from agent.store.ledger import insert_run
from agent.types import Settings, Status, Step
from tests.conftest import open_postgres
from tests.waiting import wait_for

pytestmark = pytest.mark.slow

FIRST = Step(n=0, name="ask", change={"question": "?"}, next="plan", by="person")
KEYLESS = Settings(world="demo", model="keyless")


@pytest.fixture
def store() -> Iterator[Store]:
    yield from open_postgres()


@pytest.fixture
def worker(store: Store) -> Iterator[Worker]:
    made = Worker(read_config({}), store, FLOWS)
    yield made
    made.stop()


def tickets(store: Store) -> list[tuple[str, str]]:
    query = "SELECT args->>'run_id', status::text FROM procrastinate_jobs ORDER BY id"
    with store.engine.connect() as connection:
        return [(row[0], row[1]) for row in connection.execute(text(query))]


def test_a_run_and_its_ticket_are_committed_together_or_not_at_all(worker: Worker, store: Store):
    run_id = store.ledger.create("?", KEYLESS, FIRST)
    assert tickets(store) == [(run_id, "todo")]
    with pytest.raises(KeyError), store.writer.begin() as connection:
        insert_run(connection, "lost", KEYLESS, FIRST)
        raise KeyError
    assert tickets(store) == [(run_id, "todo")]
    store.ledger.append_person_step(run_id, "comment", {})
    assert tickets(store) == [(run_id, "todo")], "one ticket waits for a run at most"


def test_tickets_are_taken_and_go(worker: Worker, store: Store):
    runs = [store.ledger.create("?", KEYLESS, FIRST) for _ in range(3)]
    assert {store.ledger.get(run).status for run in runs} == {Status.RUNNING}
    worker.start(2)
    late = store.ledger.create("?", KEYLESS, FIRST)
    wait_for(lambda: {store.ledger.get(run).status for run in [*runs, late]} == {Status.REVIEW})
    wait_for(lambda: not tickets(store))
    assert worker.find_faults() == []


def test_a_run_works_in_slices_and_goes_back_into_the_queue(worker: Worker, store: Store, monkeypatch):
    monkeypatch.setattr("agent.engine.worker.LEASE_S", 0.0)
    run_id = store.ledger.create("?", KEYLESS, FIRST)
    assert worker.work_slice(run_id) == 0.0, "the slice ended behind one step"
    assert store.ledger.position(run_id)[0] == 1 and store.ledger.list_claimable() == [run_id]
    worker.start(1)
    wait_for(lambda: store.ledger.get(run_id).status is Status.REVIEW)


def test_a_run_whose_next_ticket_cannot_be_written_is_driven_again(worker: Worker, store: Store, monkeypatch):
    monkeypatch.setattr("agent.engine.worker.LEASE_S", 0.0)
    monkeypatch.setattr("agent.engine.worker.PAUSES_S", (1e9,))  # no sweep finds it
    queue, refused = worker.dispatcher, list[str]()
    put_back = queue.put_back

    def put_back_later(run_id: str, *given: object, **more: str) -> None:
        if not refused:
            refused.append(run_id)
            raise StoreError("the disk is full")
        put_back(run_id, *given, **more)

    monkeypatch.setattr(queue, "put_back", put_back_later)
    worker.start(1)
    run_id = store.ledger.create("?", KEYLESS, FIRST)
    wait_for(lambda: store.ledger.get(run_id).status is Status.REVIEW)
    assert refused == [run_id]


def test_the_ticket_of_a_killed_process_is_handed_out_again(worker: Worker, store: Store):
    run_id = store.ledger.create("?", KEYLESS, FIRST)
    with store.writer.begin() as connection:
        dead = "INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now() - interval '1 hour') RETURNING id"
        taken = "UPDATE procrastinate_jobs SET status = 'doing', worker_id = :worker"
        connection.execute(text(taken), {"worker": connection.scalar(text(dead))})
    assert tickets(store) == [(run_id, "doing")]
    worker.start(1)
    wait_for(lambda: store.ledger.get(run_id).status is Status.REVIEW)


def test_a_ticket_for_later_is_pulled_forward_and_one_of_a_busy_run_stays(worker: Worker, store: Store):
    queue = worker.dispatcher
    assert isinstance(queue, QueueDispatcher)
    run_id = store.ledger.create("?", KEYLESS, FIRST)
    due = text("SELECT count(*) FROM procrastinate_jobs WHERE coalesce(scheduled_at, now()) <= now()")
    with store.writer.begin() as connection:
        connection.execute(text("UPDATE procrastinate_jobs SET scheduled_at = now() + interval '1 hour'"))
        assert connection.scalar(due) == 0
    queue.put_back(run_id)
    with store.engine.connect() as connection:
        assert connection.scalar(due) == 1, "a model that is tried now waits for no hour"
        connection.execute(text("DELETE FROM procrastinate_jobs"))
        connection.commit()
    queue.busy.add(run_id)
    queue._take(run_id, "0.1.0")
    assert tickets(store) == [(run_id, "todo")] and store.ledger.position(run_id)[0] == 0


def test_a_worker_leaves_the_tickets_of_a_newer_version_and_says_so(worker: Worker, store: Store):
    queue = worker.dispatcher
    assert isinstance(queue, QueueDispatcher)
    run_id = store.ledger.create("?", KEYLESS, FIRST)
    queue._take(run_id, "99.1.0")
    assert store.ledger.position(run_id)[0] == 0 and tickets(store) == [(run_id, "todo")]
    assert ["99.1.0" in fault and "update it" in fault for fault in queue.find_faults()] == [True]


def test_the_queue_goes_on_when_the_database_comes_back(worker: Worker, store: Store):
    worker.start(1)
    first = store.ledger.create("?", KEYLESS, FIRST)
    wait_for(lambda: store.ledger.get(first).status is Status.REVIEW)
    with store.engine.connect() as connection:
        others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
        connection.execute(text(others + "AND datname = current_database()"))
    second = store.ledger.create("?", KEYLESS, FIRST)
    wait_for(lambda: store.ledger.get(second).status is Status.REVIEW)
    wait_for(lambda: worker.find_faults() == [])


def test_a_flag_is_heard_of_and_not_asked_for_ten_times_a_second(worker: Worker, store: Store, monkeypatch):
    flags, ledger = store.writer.flags, store.ledger
    monkeypatch.setattr(worker, "_work", lambda run_id, slice_s: Status.REVIEW)
    run_id = ledger.create("?", KEYLESS, FIRST)
    assert ledger.control(run_id) == "" and flags.recall(run_id) is None, "nobody listens"
    worker.start(1)
    wait_for(lambda: ledger.control(run_id) == "" and flags.recall(run_id) == "")
    other = Store(store.url.render_as_string(hide_password=False))
    reads = []
    monkeypatch.setattr(ledger, "_read", lambda *query: reads.append(query) or other.ledger._read(*query))
    for _ in range(100):
        assert ledger.control(run_id) == ""
    assert len(reads) <= 5, "the flag is known until its run is heard of"
    other.ledger.update_run(run_id, control="stop")
    wait_for(lambda: ledger.control(run_id) == "stop")
    other.close()
