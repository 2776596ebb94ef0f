"""The ledger: one writer, no step twice, a person's word between a worker's steps, leases that a dead process
cannot keep."""

from __future__ import annotations

import threading

import pytest
from sqlalchemy.exc import IntegrityError

from agent.errors import ConcurrentChange, LeaseLost, NotFound
from agent.store.database import Store
from agent.store.ledger import StaleHead
from agent.types import Settings, Status, Step
from tests.records import fill


def ask(store: Store, question: str = "who?") -> str:
    return store.ledger.create(
        question, Settings(), Step(n=0, name="ask", change={"question": question}, next="decide", by="person")
    )


def step(n: int, name: str = "decide", next: str = "search", **change) -> Step:
    return fill(Step, n=n, name=name, change=change, next=next, at="2026-11-21T00:00:00Z")


def test_one_holder_at_a_time(store):
    run_id = ask(store)
    lease = store.ledger.claim(run_id, "a")
    assert lease and store.ledger.claim(run_id, "b") is None
    store.ledger.release(lease)
    assert store.ledger.claim(run_id, "b")
    with pytest.raises(LeaseLost):
        store.ledger.commit(lease, step(1), Status.RUNNING, {})
    with pytest.raises(LeaseLost):
        store.ledger.renew(lease)


def test_a_step_cannot_be_recorded_twice(store):
    run_id = ask(store)
    lease = store.ledger.claim(run_id, "a")
    store.ledger.commit(lease, step(1), Status.RUNNING, {})
    with pytest.raises((StaleHead, IntegrityError)):
        store.ledger.commit(lease, step(1), Status.RUNNING, {})
    assert [s.n for s in store.ledger.steps(run_id)] == [0, 1]


def test_a_persons_word_comes_between(store):
    run_id = ask(store)
    lease = store.ledger.claim(run_id, "a")
    assert store.ledger.append_person_step(run_id, "steer", {"notes": []}) == 1
    with pytest.raises(StaleHead):
        store.ledger.commit(lease, step(1), Status.RUNNING, {})
    assert store.ledger.position(run_id) == (1, "decide", "")


def test_only_the_first_of_two_answers_counts(store):
    run_id = ask(store)
    store.ledger.append_person_step(run_id, "approve", {}, next="search", head=0)
    with pytest.raises(ConcurrentChange):
        store.ledger.append_person_step(run_id, "approve", {}, next="search", head=0)


def test_many_rivals_and_one_winner(store):
    run_id, won, start = ask(store), [], threading.Barrier(8)

    def rival(name: str) -> None:
        start.wait()
        if store.ledger.claim(run_id, name):
            won.append(name)

    threads = [threading.Thread(target=rival, args=(f"w{i}",)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1


def test_a_flag_rests_the_run_only_while_it_is_set(store):
    run_id = ask(store)
    lease = store.ledger.claim(run_id, "a")
    store.ledger.append_person_step(run_id, "pause", {}, control="pause")
    store.ledger.append_person_step(run_id, "resume", {}, control="")
    store.ledger.release(lease, Status.PAUSED, flag="pause")
    assert store.ledger.get(run_id).status is Status.RUNNING


def test_runs_are_found_by_text_and_status(store):
    first, second = ask(store, "Who owns Brenn Dairy?"), ask(store, "100% of what_ever")
    store.ledger.update_run(first, status=Status.DONE)
    assert [run.id for run in store.ledger.list(text="brenn")] == [first]
    assert [run.id for run in store.ledger.list(text="0%")] == [second]
    assert [run.id for run in store.ledger.list(status="done")] == [first]
    store.ledger.update_run(first, deleted_at="now")
    assert [run.id for run in store.ledger.list()] == [second]
    assert [run.id for run in store.ledger.list(deleted=True)] == [first]
    chat = store.ledger.create("q", Settings(flow="chat"), step(0))
    turn = store.ledger.create("q", Settings(flow="chat", thread_id=chat), step(0))
    assert {run.id for run in store.ledger.list(flows=("chat",), limit=5)} == {chat, turn}
    assert [run.id for run in store.ledger.list(flows=("chat",), first_turns=True)] == [chat]
    with pytest.raises(NotFound):
        store.ledger.get("nothing")


def test_a_word_that_no_longer_fits_is_refused_where_it_is_recorded(store):
    run_id = ask(store)
    store.ledger.update_run(run_id, status=Status.REVIEW)
    with pytest.raises(ConcurrentChange, match="review"):
        store.ledger.append_person_step(run_id, "resume", {}, among=(Status.PAUSED,), status=Status.RUNNING)
    store.ledger.update_run(run_id, deleted_at="now")
    with pytest.raises(ConcurrentChange, match="bin"):
        store.ledger.append_person_step(run_id, "send_back", {}, next="decide", status=Status.RUNNING)
    assert store.ledger.position(run_id) == (0, "decide", "")
    assert store.ledger.get(run_id).status is Status.REVIEW
