"""The runs that rest because a model call failed, and when each is tried again: after growing pauses, or as
soon as its server is back. Kept in memory: the next process tries a run at once."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from agent.text.plurals import format_count

PAUSES_S = (5.0, 20.0, 60.0, 180.0)
"""Seconds before each further try; the last one again and again."""


@dataclass(frozen=True)
class _Rest:
    why: str
    tries: int
    next_at: float
    is_back: Callable[[], bool]


class ModelRests:
    """Thread-safe."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._rests: dict[str, _Rest] = {}

    def note(self, run_id: str, why: str, is_back: Callable[[], bool] | None = None) -> None:
        """A run rests. `is_back` says when its server may answer again; without it pauses are waited for."""
        with self._lock:
            known = self._rests.get(run_id)
            tries = known.tries + 1 if known else 1
            pause = math.inf if is_back else PAUSES_S[min(tries, len(PAUSES_S)) - 1]
            self._rests[run_id] = _Rest(why, tries, self._clock() + pause, is_back or (lambda: False))

    def forget(self, run_id: str = "") -> None:
        """A run works again; all runs, without one."""
        with self._lock:
            self._rests = {one: rest for one, rest in self._rests.items() if run_id not in ("", one)}

    def try_now(self, run_id: str) -> None:
        """Make a run due."""
        with self._lock:
            if rest := self._rests.get(run_id):
                self._rests[run_id] = replace(rest, next_at=-math.inf)

    def is_due(self, run_id: str) -> bool:
        """Whether a run may be tried: it does not rest, or not any more."""
        rest = self._rests.get(run_id)
        return rest is None or self._clock() >= rest.next_at or rest.is_back()

    def describe(self, run_id: str) -> str:
        """Why a run rests, and when it is tried again, in a sentence or two for a person; "" otherwise."""
        if not (rest := self._rests.get(run_id)):
            return ""
        left = rest.next_at - self._clock()
        soon = "as soon as it answers" if math.isinf(left) else "within moments"
        when = f"in about {left:.0f} s" if 1 < left < math.inf else soon
        tried = f" Tried {format_count(rest.tries, 'time')};" if rest.tries > 1 else " It is"
        return f"Paused: {rest.why}{tried} tried again {when}."
