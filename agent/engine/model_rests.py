"""Runs that rest because a call of their model failed: why, and when each is tried again."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from agent.text.plurals import format_count

RECOVER_S = 2.0
"""Seconds between two looks for runs that nobody drives."""
PAUSES_S = (5.0, 20.0, 60.0, 180.0)
"""Seconds before each further try; the last one again and again."""


class Rest(NamedTuple):
    """Why a run rests, how often it was tried, and when it is tried again, on the monotonic clock."""

    why: str
    tries: int
    next_at: float


class ModelRests:
    """The runs that rest because a model call failed, and when each is tried again: after growing pauses.
    Kept in memory: the next process tries a run at once. Thread-safe."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._rests: dict[str, Rest] = {}

    def note(self, run_id: str, why: str) -> None:
        """A run rests."""
        known = self._rests.get(run_id)  # once: another thread may forget it meanwhile
        tries = known.tries + 1 if known else 1
        pause = PAUSES_S[min(tries, len(PAUSES_S)) - 1]
        self._rests[run_id] = Rest(why, tries, self._clock() + pause)

    def forget(self, run_id: str = "") -> None:
        """A run works again; all runs, without one."""
        for name in [run_id] if run_id else list(self._rests):
            self._rests.pop(name, None)

    def try_now(self, run_id: str) -> None:
        """Make a run due."""
        if rest := self._rests.get(run_id):
            self._rests[run_id] = rest._replace(next_at=self._clock())

    def is_due(self, run_id: str) -> bool:
        """Whether a run may be tried: it does not rest, or not any more."""
        rest = self._rests.get(run_id)
        return rest is None or self._clock() >= rest.next_at

    def wait_s(self, run_id: str) -> float:
        """In how many seconds a run that rests may be tried; 0 when it does not rest."""
        rest = self._rests.get(run_id)
        return max(RECOVER_S, rest.next_at - self._clock()) if rest else 0.0

    def describe(self, run_id: str) -> str:
        """Why a run rests, and when it is tried again, in a sentence or two for a person; "" otherwise."""
        if not (rest := self._rests.get(run_id)):
            return ""
        left = rest.next_at - self._clock()
        when = f"in about {left:.0f} s" if left > 1 else "within moments"
        tried = f" Tried {format_count(rest.tries, 'time')};" if rest.tries > 1 else " It is"
        return f"Paused: {rest.why}{tried} tried again {when}."
