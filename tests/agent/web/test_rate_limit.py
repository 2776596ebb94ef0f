"""Gaps between fetches, two at a time, rests that hosts ask for. Time is a number here: nothing really
waits."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from agent.errors import StopRequested
from agent.net.deadline import Deadline, DeadlineExceeded
from agent.web import rate_limit
from agent.web.rate_limit import MAX_CONCURRENT, HostRateLimiter


class Time:
    """A clock that moves when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 100.0
        self.on_sleep = lambda: None

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.on_sleep()


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    made = Time()
    monkeypatch.setattr(rate_limit, "time", made)
    return made


def test_a_crawl_delay_widens_the_gap_up_to_half_a_minute(time: Time) -> None:
    pace = HostRateLimiter(1.0)
    for delay in (5.0, 5.0):
        with pace.hold_slot("a", Deadline(60), delay=delay):
            pass
    assert round(time.now - 100) == 5
    with pace.hold_slot("b", Deadline(60), delay=900):
        pass
    with pace.hold_slot("b", Deadline(60), delay=900):
        assert round(time.now - 105) == 30


def test_no_more_than_two_are_under_way(time: Time) -> None:
    pace = HostRateLimiter(0.0)
    with ExitStack() as stack:
        for _ in range(MAX_CONCURRENT):
            stack.enter_context(pace.hold_slot("a", Deadline(60)))
        time.on_sleep = stack.close
        with pace.hold_slot("a", Deadline(60)):
            assert time.now > 100


def test_a_stop_ends_the_wait_for_a_turn(time: Time) -> None:
    pace = HostRateLimiter(1000.0)
    stopped: list[bool] = []
    time.on_sleep = lambda: stopped.append(True)

    def checkpoint() -> None:
        if stopped:
            raise StopRequested

    with pace.hold_slot("a", Deadline(60)):
        pass
    with pytest.raises(StopRequested), pace.hold_slot("a", Deadline(60, checkpoint)):
        pass


def test_the_wait_for_a_turn_does_not_eat_the_deadline(time: Time) -> None:
    pace = HostRateLimiter(50.0)
    watch = Deadline(10)
    for _ in range(2):
        with pace.hold_slot("a", watch):
            pass
    assert watch.remaining() > 40


def test_a_host_that_asks_for_rest_gets_it(time: Time) -> None:
    pace = HostRateLimiter(0.0)
    pace.pause_host("a", 30)
    pace.pause_host("a", 5)
    assert (pace.remaining_pause("a"), pace.remaining_pause("b")) == (30, 0)
    time.now += 31
    assert pace.remaining_pause("a") == 0


def test_waiting_for_a_rest_ends_at_the_deadline(time: Time) -> None:
    pace = HostRateLimiter(0.0)
    pace.pause_host("a", 1)
    pace.wait_out_pause("a", Deadline(60))
    assert pace.remaining_pause("a") == 0
    pace.pause_host("a", 1)
    with pytest.raises(DeadlineExceeded):
        pace.wait_out_pause("a", Deadline(0))
