"""Leaves a dead server alone: one request a minute for each account there asks it again, process-wide."""

from __future__ import annotations

import hashlib
import math
import threading
import time
from collections.abc import Callable
from weakref import WeakValueDictionary

MIN_FAILURES = 3
"""Tries in a row that failed, over all runs, before a server counts as dead: those of one completion."""
PROBE_S = 60.0
"""Seconds between two requests to a dead server."""


class CircuitBreaker:
    """What the requests to one server with one key tell of it. Thread-safe; shared by all its clients."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._is_open = False
        self._next_at = -math.inf

    @property
    def is_open(self) -> bool:
        """Whether the server counts as dead."""
        return self._is_open

    @property
    def is_due(self) -> bool:
        """Whether it is dead, and time to ask it again."""
        return self._is_open and self._clock() >= self._next_at

    def admit(self) -> bool:
        """Whether a request may be sent now; of a dead server's, one a minute may."""
        with self._lock:
            if self._is_open and self._clock() < self._next_at:
                return False
            if self._is_open:
                self._next_at = self._clock() + PROBE_S
            return True

    def ask_at_once(self) -> None:
        """Let the next request through: a person wants to know."""
        with self._lock:
            self._next_at = -math.inf

    def record(self, *, is_outage: bool) -> None:
        """One request failed for want of a server (`is_outage`), or the server answered, whatever it said."""
        with self._lock:
            self._failures = self._failures + 1 if is_outage else 0
            self._is_open = self._is_open and is_outage

    def open_if_dead(self) -> None:
        """A request failed after all its tries: from the third in a row on the server is dead."""
        with self._lock:
            if self._failures >= MIN_FAILURES and not self._is_open:
                self._is_open, self._next_at = True, self._clock() + PROBE_S


_breakers: WeakValueDictionary[tuple[str, bytes], CircuitBreaker] = WeakValueDictionary()
_breakers_lock = threading.Lock()


def find_breaker(base_url: str, key: str = "") -> CircuitBreaker:
    """The breaker of a server and the account of this key, the same for all clients that live: what fails for
    one account slows nobody who has another."""
    account = (base_url, hashlib.sha256(key.encode()).digest())
    with _breakers_lock:
        return _breakers.setdefault(account, CircuitBreaker())


def describe_outage(server: str) -> str:
    """That a server is left alone, in a sentence for a person."""
    return f"The model server {server} does not answer; it is asked again once a minute."
