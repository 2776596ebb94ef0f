"""Runs that are written nowhere: each is held in memory, in a database of its own, and forgotten."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable

from agent.store.database import Store
from agent.types import Run, Settings, Step

MAX_HELD, HELD_S = 20, 3600.0
"""Ended runs that are held for who looks at them, the newest, and for how many seconds."""


class UnstoredRuns:
    """The runs in memory by id: those at work, and for a while some that ended. Thread-safe."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._stores: dict[str, Store] = {}
        self._ended: dict[str, float] = {}
        self._lock = threading.Lock()

    def create(self, question: str, settings: Settings, first: Step, *, owner: str = "") -> str:
        """A new run in its own database; returns its id."""
        store = Store.in_memory()
        run_id = store.ledger.create(question, settings, first, owner=owner)
        with self._lock:
            self._stores[run_id] = store
        return run_id

    def get(self, run_id: str) -> Store | None:
        """The database of a run; None when it is not in memory."""
        return self._stores.get(run_id)

    def stores(self) -> list[Store]:
        """The databases of all runs in memory."""
        with self._lock:
            return list(self._stores.values())

    def ended_runs(self) -> list[Run]:
        """The ended runs that are held, newest first."""
        with self._lock:
            held = [(run_id, self._stores[run_id]) for run_id in reversed(self._ended)]
        return [store.ledger.get(run_id) for run_id, store in held]

    def end(self, run_id: str, *, hold: bool) -> list[str]:
        """A run has ended: `hold` it for a while, or forget it. Returns the ids of those forgotten."""
        with self._lock:
            self._ended[run_id] = self._clock() if hold else -math.inf
            oldest, kept = self._clock() - HELD_S, [*self._ended][-MAX_HELD:]
            gone = [name for name, at in self._ended.items() if name not in kept or at <= oldest]
            stores = [self._stores.pop(name) for name in gone if self._ended.pop(name, None) is not None]
        for store in stores:
            store.close()
        return gone

    def close(self) -> None:
        """Forget every run."""
        with self._lock:
            stores, self._stores, self._ended = list(self._stores.values()), {}, {}
        for store in stores:
            store.close()
