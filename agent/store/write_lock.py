"""Who writes now: the threads of this process take turns, first come, first served.

SQLite lets one writer in at a time and has the others ask again after a nap, in no order: of many threads one
can be passed over until its patience ends. So threads queue here before they ask; only other processes are
left to the database's own waiting."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from sqlalchemy import Connection, Engine


class FairLock:
    """A lock that is handed on in the order in which it was asked for. Not re-entrant."""

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
            ticket.acquire()  # released by the one before
        except BaseException:
            self._withdraw(ticket)
            raise

    def __exit__(self, *_: object) -> None:
        self._pass_on()

    def waiting_count(self) -> int:
        """How many wait for their turn."""
        return len(self._waiting)

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
        self._pass_on()  # it had been called already


class Writer:
    """The door to writing transactions of one database; shared by threads."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine.execution_options(writes=True)
        self.lock = FairLock()

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """A writing transaction, when it is this thread's turn: committed at the end, rolled back on an
        error."""
        with self.lock, self._engine.begin() as connection:
            yield connection
