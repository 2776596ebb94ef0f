"""Deadlines and stops while something blocks."""

from __future__ import annotations

import threading

import pytest

from agent.errors import Stopped
from agent.tools.watch import Late, Watch, patiently


def test_what_is_done_in_time_comes_back() -> None:
    assert patiently(lambda: 7, Watch(5)) == 7


def test_what_fails_fails_in_the_callers_thread() -> None:
    with pytest.raises(KeyError):
        patiently(lambda: {}["x"], Watch(5))


def test_what_blocks_is_left_behind_at_the_deadline() -> None:
    over = threading.Event()
    with pytest.raises(Late):
        patiently(lambda: over.wait(30), Watch(0.05))
    over.set()


def test_a_stop_ends_the_wait() -> None:
    over = threading.Event()
    looks = iter([False, False, True])

    def checkpoint() -> None:
        if next(looks, True):
            raise Stopped

    with pytest.raises(Stopped):
        patiently(lambda: over.wait(30), Watch(60, checkpoint))
    over.set()


def test_time_spent_being_polite_is_given_back() -> None:
    watch = Watch(1)
    watch.extend(100)
    assert watch.left() > 50
