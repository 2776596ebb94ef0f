"""Requests a minute: a burst up to the rate, then one at a time, each caller for itself."""

from __future__ import annotations

from agent.accounts.quotas import RequestRates


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_burst_is_answered_and_then_one_each_interval() -> None:
    clock = Clock()
    rates = RequestRates(6, clock)
    assert [rates.take("a") for _ in range(7)] == [0, 0, 0, 0, 0, 0, 10]
    assert rates.take("b") == 0, "another caller has a bucket of its own"
    clock.now = 4.0
    assert rates.take("a") == 6
    clock.now = 10.0
    assert [rates.take("a"), rates.take("a")] == [0, 10]
    clock.now = 10_000.0
    assert [rates.take("a") for _ in range(7)].count(0) == 6
    unlimited = RequestRates(0, clock)
    assert {unlimited.take("a") for _ in range(1000)} == {0}
