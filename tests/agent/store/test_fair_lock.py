"""Threads that write at once: each gets its turn, in order, and none is turned away."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread
from typing import Any

import pytest
from sqlalchemy import event

from agent.store.table_access import FairLock


def test_sixteen_threads_write_though_the_database_waits_for_nobody(store):
    def impatient(connection: Any, *_: object) -> None:
        connection.execute("PRAGMA busy_timeout=0")

    event.listen(store.engine, "checkout", impatient)
    with ThreadPoolExecutor(16) as pool:
        told = list(pool.map(lambda n: store.draft(f"key {n % 7}", f"text {n}"), range(160)))
    assert told == [f"text {n}" for n in range(160)]


def test_turns_are_taken_in_the_order_they_were_asked_for():
    turns, order, pausing = FairLock(), [], Event()

    def take(n: int) -> None:
        with turns:
            order.append(n)

    with turns:
        threads = []
        for n in range(12):
            threads.append(Thread(target=take, args=(n,)))
            threads[-1].start()
            while len(turns.queue) < n + 2:  # the holder, and those who wait
                pausing.wait(0.001)
    for thread in threads:
        thread.join()
    assert order == list(range(12)) and not turns.queue


def test_an_error_gives_the_turn_back(store):
    with pytest.raises(ValueError, match="no"), store.ledger._writer.begin():
        raise ValueError("no")
    assert store.draft("a", "kept") == "kept"
