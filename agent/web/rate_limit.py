"""How often a host may be asked: a gap between fetches, two at a time, and a pause when the host asks for
one.

Shared by all runs of a world; `agent.engine.shared_pace` has the form that processes share. Knows host names
and seconds, nothing of pages."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from agent.net.deadline import POLL_SECONDS, Deadline
from agent.net.exchange import MAX_RETRY_AFTER_S

MAX_CONCURRENT = 2
MAX_GAP_S = 30.0
"""A crawl-delay of robots.txt is observed up to this many seconds."""
DEFAULT_PAUSE_S = 10.0
"""Seconds a host is left alone that answers "too many requests" without a time."""


class HostRateLimiter:
    """Slots for requests to hosts. `gap` is in seconds; 0 never waits (a world without servers)."""

    def __init__(self, gap: float) -> None:
        self._gap = gap
        self._lock = threading.Lock()
        self._next_allowed_at: dict[str, float] = defaultdict(float)
        self._in_flight: dict[str, int] = defaultdict(int)
        self._paused_until: dict[str, float] = {}

    @contextmanager
    def hold_slot(
        self, host: str, watch: Deadline, *, delay: float = 0.0, alone: float | None = None
    ) -> Iterator[None]:
        """Wait for a slot of this host and hold it: one of some, with the gap of this limiter or a longer
        `delay`, or the only one, with the gap `alone`. The wait extends the fetch's deadline; a stop ends
        it."""
        gap = max(self._gap, min(delay, MAX_GAP_S)) if self._gap else 0.0
        slots = MAX_CONCURRENT
        if alone is not None:
            gap, slots = alone, 1
        while (taken := self._take(host, gap, slots))[1] < 0:
            pause = min(taken[0], POLL_SECONDS)
            time.sleep(pause)
            watch.extend(pause)
        try:
            yield
        finally:
            self._release(host, taken[1])

    def _take(self, host: str, gap: float, slots: int) -> tuple[float, int]:
        """Take one of so many slots if it is due: 0 and its number, else the seconds to wait and -1."""
        with self._lock:
            now = time.monotonic()
            if self._in_flight[host] >= slots:
                return POLL_SECONDS, -1
            if (wait := self._next_allowed_at[host] - now) > 0:
                return wait, -1
            self._next_allowed_at[host] = now + gap
            self._in_flight[host] += 1
            return 0.0, 0

    def _release(self, host: str, slot: int) -> None:
        with self._lock:
            self._in_flight[host] -= 1

    def close(self) -> None:
        """Nothing is asked through this limiter any more."""

    def pause_host(self, host: str, seconds: float) -> None:
        """Leave the host alone for this long, at most a day."""
        with self._lock:
            self._paused_until[host] = max(
                self._paused_until.get(host, 0.0), time.monotonic() + min(seconds, MAX_RETRY_AFTER_S)
            )

    def wait_out_pause(self, host: str, watch: Deadline) -> None:
        """Wait until the host's pause is over; a stop or the deadline ends the wait."""
        while (pause := self.remaining_pause(host)) > 0:
            watch.check()
            time.sleep(min(pause, POLL_SECONDS))

    def remaining_pause(self, host: str) -> float:
        """Seconds until the host may be asked again."""
        with self._lock:
            return max(0.0, self._paused_until.get(host, 0.0) - time.monotonic())
