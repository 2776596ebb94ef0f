"""How long one look at the world may take, and who may call it off. Knows time and a checkpoint, nothing of
the web.

A `Watch` is asked at every wait: it raises the run's Signal when a person stopped it, or `Late` at the
deadline. Blocking calls that cannot be asked (a name lookup, a search library) run in a thread of their own
that is left behind."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from agent.errors import TouchstoneError

T = TypeVar("T")

POLL_SECONDS = 0.2
"""Seconds between two looks at the deadline and the stop flag while something blocks."""


class DeadlineExceeded(TouchstoneError):
    """The deadline passed. Stays inside the tools: it becomes the outcome `timeout`."""


class Deadline:
    """A deadline `seconds` from now, and a `checkpoint` that raises a Signal when the run must rest."""

    def __init__(self, seconds: float, checkpoint: Callable[[], None] = lambda: None) -> None:
        self.checkpoint = checkpoint
        self._end = time.monotonic() + seconds

    def remaining(self) -> float:
        """Seconds until the deadline, never below 0."""
        return max(0.0, self._end - time.monotonic())

    def extend(self, seconds: float) -> None:
        """Give back time that was spent waiting out of politeness."""
        self._end += seconds

    def check(self) -> None:
        """Raise what calls it off: a Signal, or `Late`."""
        self.checkpoint()
        if not self.remaining():
            raise DeadlineExceeded

    def poll_interval(self) -> float:
        """How long to block before the next tick, in seconds."""
        return max(0.001, min(POLL_SECONDS, self.remaining()))


def run_with_deadline(call: Callable[[], T], watch: Deadline) -> T:
    """What `call` returns or raises, from a thread that is left behind when the watch calls it off."""
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
