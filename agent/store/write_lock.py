"""Serialises writers within the process, in the order in which they ask.

SQLite admits one writer at a time and lets the others retry in no order, so that one of many threads can wait
until it times out. Threads queue here instead; only other processes wait in SQLite."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from sqlalchemy import Connection, Engine


class FairLock:
    """A lock that is acquired in the order of the requests. Not re-entrant."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._is_held = False
        self._waiting: deque[Lock] = deque()

    def __enter__(self) -> None:
        with self._lock:
            if not self._is_held:
                self._is_held = True
                return
            ticket = Lock()
            ticket.acquire()
            self._waiting.append(ticket)
        try:
            ticket.acquire()  # released by the previous holder
        except BaseException:
            self._withdraw(ticket)
            raise

    def __exit__(self, *_: object) -> None:
        self._pass_on()

    def _pass_on(self) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._is_held = False

    def _withdraw(self, ticket: Lock) -> None:
        with self._lock:
            if ticket in self._waiting:
                self._waiting.remove(ticket)
                return
        self._pass_on()  # it held the lock already


class Writer:
    """Begins the writing transactions of one database; shared by threads."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine.execution_options(writes=True)
        self.lock = FairLock()

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """A writing transaction; it is committed at the end, and rolled back on an error."""
        with self.lock, self._engine.begin() as connection:
            yield connection
