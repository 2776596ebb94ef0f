"""The keeper of living runs: a backlog that does not grow by being looked at, and a store in trouble that
ends no thread."""

from __future__ import annotations

import threading

import pytest

from agent.engine.worker import Worker
from agent.errors import ModelUnavailable, StoreError
from agent.flows import FLOWS
from agent.settings import config
from agent.store.database import Store
from agent.types import BatchBudget, BatchRow, Settings, Status, Step
from tests.waiting import wait_for

pytestmark = pytest.mark.slow

FIRST = Step(n=0, name="ask", change={"question": "?"}, next="decide", by="person")


@pytest.fixture
def worker(monkeypatch):
    monkeypatch.setattr("agent.engine.worker.RECOVER_S", 0.01)
    settings = config.read_config()
    made = Worker(settings, Store(settings.database_url), FLOWS)
    yield made
    made.stop()
    made.store.close()


def test_a_backlog_stands_in_line_once(worker, monkeypatch):
    looked, going_on = threading.Semaphore(0), threading.Event()
    plain = worker.store.ledger.list_claimable

    def unfinished():
        looked.release()
        return plain()

    monkeypatch.setattr(worker.store.ledger, "list_claimable", unfinished)
    monkeypatch.setattr(worker, "_drive", lambda *_asked: going_on.wait(20))
    for _ in range(5):
        worker.store.ledger.create("?", Settings(world="demo", model="keyless"), FIRST)
    worker.start(1)
    for _ in range(20):
        assert looked.acquire(timeout=20)
    assert worker.dispatcher._queue.qsize() <= 5
    going_on.set()


def test_a_store_in_trouble_ends_no_thread_and_fails_no_run(worker, monkeypatch):
    troubles, plain = [StoreError("the disk is full")] * 3, worker.store.ledger.claim

    def claim(run_id, owner):
        if troubles:
            raise troubles.pop()
        return plain(run_id, owner)

    monkeypatch.setattr(worker.store.ledger, "claim", claim)
    run_id = worker.store.ledger.create("?", Settings(world="demo", model="keyless"), FIRST)
    rested = threading.Event()
    drive = worker._drive
    monkeypatch.setattr(worker, "_drive", lambda *asked: drive(*asked) is Status.RUNNING or rested.set())
    worker.start(1)
    assert rested.wait(30)
    assert worker.store.ledger.get(run_id).status is Status.REVIEW and not troubles


def test_a_run_and_a_batch_that_cannot_be_read_cost_themselves_only(worker):
    endless = Settings(world="demo", model="keyless").model_copy(update={"max_seconds": float("inf")})
    lost = worker.store.ledger.create("?", endless, FIRST)
    allowance = BatchBudget().model_copy(update={"max_minutes": float("inf")})
    worker.store.batches.create(
        "lost", Settings(), allowance, ["question"], [BatchRow(n=2, question="?", given={})]
    )
    worker.start(1)
    run_id = worker.store.ledger.create("?", Settings(world="demo", model="keyless"), FIRST)
    wait_for(lambda: worker.store.ledger.get(run_id).status is Status.REVIEW)
    listed = {run.id: run for run in worker.store.ledger.list()}
    assert listed[run_id].status is Status.REVIEW and lost not in worker.store.ledger.list_claimable()
    assert listed[lost].status is Status.FAILED and "cannot be opened" in listed[lost].error
    assert worker.find_faults() == []


def test_a_run_that_another_process_drives_is_followed_to_its_rest(worker):
    other = Worker(worker.config, worker.store, FLOWS)
    run_id = worker.store.ledger.create("?", Settings(world="demo", model="keyless"), FIRST)
    lease = worker.store.ledger.claim(run_id, other.owner)
    watched: list[Status] = []

    def watch() -> None:
        watched.append(worker.store.ledger.get(run_id).status)
        if len(watched) == 1:
            worker.store.ledger.release(lease)
            other.drive(run_id)

    assert worker.drive(run_id, watch) is Status.REVIEW
    assert watched == [Status.RUNNING], "every step was the other's"


def test_what_a_run_read_stands_in_the_library_when_it_rests(worker):
    settings = Settings(
        world="demo", model="keyless", max_steps=2, start_urls=["https://www.alvmora-mejeri.example/"]
    )
    change = {"question": "Who runs the dairy?", "settings": settings.model_dump(mode="json")}
    run_id = worker.store.ledger.create(
        "Who runs the dairy?", settings, FIRST.model_copy(update={"change": change})
    )
    worker.drive(run_id)
    pages = {
        page["page_id"]
        for step in worker.store.ledger.steps(run_id)
        for page in step.change.get("pages", [])
        if page["page_id"]
    }
    assert pages
    assert worker.library.count(tag="demo") == len(pages)
    assert worker.store.library_index.list_unindexed(9) == []


def test_folders_and_vectors_are_tended_and_a_model_in_trouble_ends_no_thread(worker, monkeypatch, tmp_path):
    (tmp_path / "faq.md").write_text("# FAQ\n\nThe faucet gives test tokens.")
    troubles, tended = (
        [ModelUnavailable("the server sleeps"), ValueError("a text nobody has thought of")],
        threading.Event(),
    )

    def vectors(**_settings):
        if troubles:
            worker._library_sync_due.set()
            raise troubles.pop()
        tended.set()
        return 0

    monkeypatch.setattr(worker.library, "kb_dir", tmp_path)
    monkeypatch.setattr(worker.library.vector_index, "embed_pending", vectors)
    worker.start(1)
    assert tended.wait(20) and [entry.source_id for entry in worker.library.index()] == ["kb:faq.md"]
