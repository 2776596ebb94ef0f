"""A deadline for one request, with a checkpoint that a stop raises from.

Every wait calls `Deadline.check`: it raises the run's Signal when a person stopped the run, or
DeadlineExceeded. Blocking calls that cannot check (a name lookup, a pipe of a process that is then killed)
run in a thread that is abandoned."""

from __future__ import annotations

import errno
import io
import math
import os
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from urllib3.util import wait_for_write

from agent.errors import TouchstoneError
from agent.types import Outcome

T = TypeVar("T")

POLL_SECONDS = 0.2
"""Seconds between two checks of the deadline and the stop flag while something blocks."""


class NoAnswer(TouchstoneError):
    """Nothing came back that may be read: why, the `outcome` it becomes, the server's `status`, if any."""

    outcome = Outcome.ERROR

    def __init__(self, message: str = "", outcome: Outcome | None = None, status: int | None = None) -> None:
        super().__init__(message)
        self.outcome, self.status = outcome or self.outcome, status


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

    def check(self, every: float = 0.0) -> None:
        """Raise a Signal or DeadlineExceeded; at most every so many seconds, until the deadline: what is
        there already is read before a stop ends it."""
        if self.remaining() and time.monotonic() < self._checked + every:
            return
        self.checkpoint()
        self._checked = time.monotonic()
        if not self.remaining():
            raise DeadlineExceeded

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


# Sockets that wait in short slices: the timeout of `requests` is per read; a byte a second holds it for ever.
# Every wait checks the thread's current `Deadline`, so pooled connections obey the fetch they serve now.

CONNECT_SECONDS = 10.0
"""Seconds one address may take to accept a connection, and TLS to shake hands."""
BUFFER_BYTES = 65_536
"""Bytes read at once. Every system call hands the interpreter to another thread: with dozens of parallel
fetches that, not the bytes, is the cost of reading."""

_current = threading.local()


@contextmanager
def use_deadline(watch: Deadline) -> Iterator[None]:
    """Make this thread's sockets obey the deadline."""
    former = getattr(_current, "watch", None)
    _current.watch = watch
    try:
        yield
    finally:
        _current.watch = former


def current_deadline(seconds: float = CONNECT_SECONDS) -> Deadline:
    """The deadline this thread's sockets obey; where there is none, one so many seconds from now."""
    watch = getattr(_current, "watch", None)
    return watch if isinstance(watch, Deadline) else Deadline(seconds)


class _Reader(io.BufferedReader):
    """Cuts endless lines: urllib3 reads the size of a chunk, and what follows the last one, by the line."""

    def readline(self, size: int | None = -1) -> bytes:
        return super().readline(BUFFER_BYTES + 2 if size is None or size < 0 else size)


class DeadlineSocket(socket.socket):
    """A plain connection that checks the deadline while it waits for bytes."""

    def recv_into(self, *args: Any, **kwargs: Any) -> int:
        """As `socket.recv_into`; raises a Signal or DeadlineExceeded."""
        watch = current_deadline()
        while True:
            watch.check(every=POLL_SECONDS)
            self.settimeout(watch.poll_interval())
            try:
                return super().recv_into(*args, **kwargs)
            except TimeoutError:
                continue

    def sendall(self, data: Any, flags: int = 0) -> None:
        """As `socket.sendall`; raises a Signal or DeadlineExceeded while the other side does not read."""
        watch, left = current_deadline(), memoryview(data).cast("B")
        while left:
            watch.check()
            self.settimeout(watch.poll_interval())
            try:
                left = left[self.send(left[:BUFFER_BYTES], flags) :]
            except TimeoutError:
                continue

    def settimeout(self, value: float | None) -> None:
        """As `socket.settimeout`, without a system call when nothing changes."""
        if value != self.gettimeout():
            super().settimeout(value)

    def makefile(self, mode: Any = "r", buffering: int | None = None, **kwargs: Any) -> Any:
        """As `socket.makefile`, with a buffer that holds most pages, and lines that end."""
        if mode != "rb" or buffering is not None:
            return super().makefile(mode, buffering, **kwargs)
        return _Reader(super().makefile("rb", 0), BUFFER_BYTES)


class DeadlineTLSSocket(DeadlineSocket, ssl.SSLSocket):
    """The same over TLS."""


def connect(family: socket.AddressFamily, peer: tuple[str, int], watch: Deadline) -> socket.socket:
    """A connection to exactly this address. Raises OSError, and what the deadline raises."""
    sock = DeadlineSocket(family, socket.SOCK_STREAM)
    try:
        limit = watch.within(CONNECT_SECONDS)
        sock.setblocking(False)
        code = sock.connect_ex(peer)
        while code == errno.EINPROGRESS:
            try:
                limit.check()
            except DeadlineExceeded:
                watch.check()
                raise TimeoutError("the host did not accept the connection in time") from None
            if wait_for_write(sock, limit.poll_interval()):
                code = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if code:
            raise OSError(code, os.strerror(code))
        sock.settimeout(min(CONNECT_SECONDS, max(0.01, watch.remaining())))
    except BaseException:
        sock.close()
        raise
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock
