"""How often one host may be asked: a gap between fetches, two at a time, and a rest when the host asks for
one.

Shared by all runs of a world. Knows host names and seconds, nothing of pages."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isnan

from agent.web.deadline import POLL_SECONDS, Deadline

MAX_CONCURRENT = 2
MAX_GAP_S = 30.0
"""A crawl-delay of robots.txt is honoured up to this many seconds."""
DEFAULT_PAUSE_S = 10.0
"""Seconds a host rests that says "too many requests" without saying for how long."""
MAX_PAUSE_S = 86_400.0


class HostRateLimiter:
    """Who may go when. `gap` is in seconds; 0 lets everything through at once (a world without servers)."""

    def __init__(
        self,
        gap: float,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._gap = gap
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.Lock()
        self._next_allowed_at: dict[str, float] = defaultdict(float)
        self._in_flight: dict[str, int] = defaultdict(int)
        self._paused_until: dict[str, float] = {}

    @contextmanager
    def hold_slot(self, host: str, watch: Deadline, *, delay: float = 0.0) -> Iterator[None]:
        """Wait for this host's turn and hold it. The wait does not count against the fetch's deadline; a stop
        ends it."""
        gap = max(self._gap, min(delay, MAX_GAP_S)) if self._gap else 0.0
        while (wait := self._claim_slot(host, gap)) > 0:
            watch.checkpoint()
            pause = min(wait, POLL_SECONDS)
            self._sleep(pause)
            watch.extend(pause)
        try:
            yield
        finally:
            with self._lock:
                self._in_flight[host] -= 1

    def _claim_slot(self, host: str, gap: float) -> float:
        with self._lock:
            now = self._clock()
            if self._in_flight[host] >= MAX_CONCURRENT:
                return POLL_SECONDS
            if self._next_allowed_at[host] > now:
                return self._next_allowed_at[host] - now
            self._next_allowed_at[host] = now + gap
            self._in_flight[host] += 1
            return 0.0

    def pause_host(self, host: str, seconds: float) -> None:
        """Leave the host alone for this long, at most a day."""
        with self._lock:
            self._paused_until[host] = max(
                self._paused_until.get(host, 0.0), self._clock() + min(seconds, MAX_PAUSE_S)
            )

    def wait_out_pause(self, host: str, watch: Deadline) -> None:
        """Sit out the host's rest; a stop or the deadline ends it."""
        while (rest := self.remaining_pause(host)) > 0:
            watch.check()
            self._sleep(min(rest, POLL_SECONDS))

    def remaining_pause(self, host: str) -> float:
        """Seconds the host still rests; 0 when it may be asked."""
        with self._lock:
            return max(0.0, self._paused_until.get(host, 0.0) - self._clock())


def parse_retry_after(header: str | None, now: datetime | None = None) -> float | None:
    """Seconds that a Retry-After header asks for (a number or a date); None when it says nothing that can be
    read."""
    header = (header or "").strip()
    if not header:
        return None
    try:
        seconds = float(header)
        return None if isnan(seconds) else min(max(0.0, seconds), MAX_PAUSE_S)
    except ValueError:
        pass
    try:
        when = parsedate_to_datetime(header)
    except ValueError:
        return None
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return min(max(0.0, (when - (now or datetime.now(UTC))).total_seconds()), MAX_PAUSE_S)
