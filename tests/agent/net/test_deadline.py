"""Deadlines and stops while something blocks."""

from __future__ import annotations

import threading

import pytest

from agent.errors import StopRequested
from agent.net.deadline import AllBusy, Deadline, DeadlineExceeded, run_with_deadline


def test_what_blocks_is_left_behind_at_the_deadline() -> None:
    over = threading.Event()
    with pytest.raises(DeadlineExceeded):
        run_with_deadline(lambda: over.wait(30), Deadline(0.05))
    over.set()


def test_a_stop_ends_the_wait() -> None:
    over = threading.Event()
    looks = iter([False, False, True])

    def checkpoint() -> None:
        if next(looks, True):
            raise StopRequested

    with pytest.raises(StopRequested):
        run_with_deadline(lambda: over.wait(30), Deadline(60, checkpoint))
    over.set()


def test_time_spent_being_polite_is_given_back() -> None:
    watch = Deadline(1)
    watch.extend(100)
    assert watch.remaining() > 50


def test_patience_for_slots_ends() -> None:
    watch = Deadline(1, patience=2.5)
    watch.extend(2)
    with pytest.raises(AllBusy):
        watch.extend(1)
    assert watch.remaining() > 3


def test_a_part_of_a_deadline_ends_with_it_and_stops_with_it() -> None:
    def stop() -> None:
        raise StopRequested

    assert Deadline(1).within(60).remaining() <= 1 and Deadline(60).within(1).remaining() <= 1
    with pytest.raises(StopRequested):
        Deadline(60, stop).within(1).check()
