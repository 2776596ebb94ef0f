"""A deadline for one request, with a checkpoint that a stop raises from.

Every wait calls `Deadline.check`: it raises the run's Signal when a person stopped the run, or
DeadlineExceeded. Blocking calls that cannot check (a name lookup, a pipe of a process that is then killed)
run in a thread that is abandoned."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from agent.errors import TouchstoneError
from agent.types import Outcome

T = TypeVar("T")

POLL_SECONDS = 0.2
"""Seconds between two checks of the deadline and the stop flag while something blocks."""


class NoAnswer(TouchstoneError):
    """Nothing came back that may be read; the message says why, `outcome` what it becomes."""

    outcome = Outcome.ERROR


class DeadlineExceeded(NoAnswer):
    """The deadline passed."""

    outcome = Outcome.TIMEOUT


class AllBusy(TouchstoneError):
    """Others hold all the slots for longer than somebody has the patience to wait."""


class Deadline:
    """A deadline `seconds` from now, and a `checkpoint` that raises a Signal when the run must pause. Waits
    for slots may take `patience` seconds in all."""

    def __init__(
        self, seconds: float, checkpoint: Callable[[], None] = lambda: None, patience: float = math.inf
    ) -> None:
        self.checkpoint, self._patience = checkpoint, patience
        self._end, self._checked = time.monotonic() + seconds, 0.0

    def within(self, seconds: float) -> Deadline:
        """This deadline, or one so many seconds from now if that is sooner."""
        return Deadline(min(seconds, self.remaining()), self.checkpoint)

    def remaining(self) -> float:
        """Seconds until the deadline, never below 0."""
        return max(0.0, self._end - time.monotonic())

    def extend(self, seconds: float) -> None:
        """Move the deadline by time that was spent waiting for a slot. Raises a Signal or AllBusy."""
        self.checkpoint()
        self._end, self._patience = self._end + seconds, self._patience - seconds
        if self._patience < 0:
            raise AllBusy

    def check(self) -> None:
        """Raise a Signal or DeadlineExceeded."""
        self.checkpoint()
        self._checked = time.monotonic()
        if not self.remaining():
            raise DeadlineExceeded

    def check_between_reads(self) -> None:
        """As `check`, but at most every POLL_SECONDS: what is there already is read before a stop ends it."""
        if not self.remaining() or time.monotonic() >= self._checked + POLL_SECONDS:
            self.check()

    def poll_interval(self) -> float:
        """Seconds to block before the next check."""
        return max(0.001, min(POLL_SECONDS, self.remaining()))


def run_with_deadline(call: Callable[[], T], watch: Deadline) -> T:
    """What `call` returns or raises, from a thread that is abandoned at a stop or the deadline."""
    done: list[T] = []
    failed: list[BaseException] = []

    def work() -> None:
        try:
            done.append(call())
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            failed.append(error)

    thread = threading.Thread(target=work, daemon=True, name="touchstone-patience")
    watch.check()
    thread.start()
    while thread.is_alive():
        thread.join(watch.poll_interval())
        if thread.is_alive():
            watch.check()
    if failed:
        raise failed[0]
    return done[0]
