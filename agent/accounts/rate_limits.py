"""How often a caller may ask: a bucket of requests that refills evenly. In memory, one for the process."""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

MAX_CALLERS = 10_000
"""Callers remembered; the one that asked longest ago is forgotten first."""


class RequestRates:
    """Requests a minute for each caller. Thread-safe; `per_minute` 0 is no limit."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute, self._clock = per_minute, clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """Requests left and when that was counted, by caller."""
        self._lock = threading.Lock()

    def take(self, caller: str) -> int:
        """Count a request: 0 when it may be answered, else the whole seconds until the next one may."""
        if self._per_minute <= 0:
            return 0
        with self._lock:
            now, most = self._clock(), float(self._per_minute)
            left, at = self._left.pop(caller, (most, now))
            left = min(most, left + (now - at) * most / 60)
            wait = 0 if left >= 1 else math.ceil((1 - left) * 60 / most)
            self._left[caller] = (left if wait else left - 1, now)
            while len(self._left) > MAX_CALLERS:
                self._left.popitem(last=False)
            return wait
