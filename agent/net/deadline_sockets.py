"""Sockets that wait in short slices, so that a total deadline and a stop end the wait for a slow server.

A timeout of `requests` is per read: a byte a second holds it for ever. Here every wait checks the thread's
current `Deadline` (set with `use_deadline`), so pooled connections obey the fetch they serve now."""

from __future__ import annotations

import errno
import io
import os
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from urllib3.util import wait_for_write

from agent.net.deadline import Deadline, DeadlineExceeded

CONNECT_SECONDS = 10.0
"""Seconds one address may take to accept a connection, and TLS to shake hands."""
BUFFER_BYTES = 64 * 1024
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
            watch.check_between_reads()
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
