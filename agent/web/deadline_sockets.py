"""Sockets whose waits are short slices, so that a total deadline and a stop are noticed while a server
dawdles.

A timeout of `requests` is per read: one byte a second holds it for ever. Here every wait looks at the
thread's current `Watch` (set with `watching`), which also makes connections kept alive by a pool obey the
fetch they serve now. Knows nothing of HTTP, names or which addresses are allowed."""

from __future__ import annotations

import errno
import os
import select
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from agent.web.deadline import Deadline, DeadlineExceeded

CONNECT_SECONDS = 10.0
"""Seconds one address may take to accept a connection, and TLS to shake hands."""
BUFFER_BYTES = 64 * 1024
"""Bytes read at once. Every call to the system hands the interpreter to another thread: with dozens of
fetches side by side that, not the bytes, is what reading costs."""

_current = threading.local()


@contextmanager
def use_deadline(watch: Deadline) -> Iterator[None]:
    """Let this thread's sockets obey `watch`."""
    former = getattr(_current, "watch", None)
    _current.watch = watch
    try:
        yield
    finally:
        _current.watch = former


def current_deadline() -> Deadline:
    """The watch this thread's sockets obey."""
    watch = getattr(_current, "watch", None)
    return watch if isinstance(watch, Deadline) else Deadline(CONNECT_SECONDS)


class DeadlineSocket(socket.socket):
    """A plain connection that asks the watch while it waits for bytes."""

    def recv_into(self, *args: Any, **kwargs: Any) -> int:
        """As `socket.recv_into`; raises a Signal or `Late` when the watch calls it off."""
        watch = current_deadline()
        while True:
            watch.check()
            self.settimeout(watch.poll_interval())
            try:
                return super().recv_into(*args, **kwargs)
            except TimeoutError:
                continue

    def settimeout(self, value: float | None) -> None:
        """As `socket.settimeout`, without asking the system when nothing changes."""
        if value != self.gettimeout():
            super().settimeout(value)

    def makefile(self, mode: Any = "r", buffering: int | None = None, **kwargs: Any) -> Any:
        """As `socket.makefile`, with a buffer that takes in most pages at once."""
        return super().makefile(mode, BUFFER_BYTES if buffering is None else buffering, **kwargs)


class DeadlineTLSSocket(DeadlineSocket, ssl.SSLSocket):
    """The same over TLS."""


def connect(family: socket.AddressFamily, peer: tuple[str, int], watch: Deadline) -> socket.socket:
    """A connection to exactly this address. Raises OSError when it is refused or slow, what the watch raises
    otherwise."""
    sock = DeadlineSocket(family, socket.SOCK_STREAM)
    try:
        _connect_within(sock, peer, watch)
    except BaseException:
        sock.close()
        raise
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


def _connect_within(sock: socket.socket, peer: tuple[str, int], watch: Deadline) -> None:
    limit = Deadline(min(CONNECT_SECONDS, watch.remaining()), watch.checkpoint)
    sock.setblocking(False)
    code = sock.connect_ex(peer)
    while code == errno.EINPROGRESS:
        try:
            limit.check()
        except DeadlineExceeded:
            watch.check()
            raise TimeoutError("the host did not accept the connection in time") from None
        if select.select([], [sock], [], limit.poll_interval())[1]:
            code = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    if code:
        raise OSError(code, os.strerror(code))
    sock.settimeout(min(CONNECT_SECONDS, max(0.01, watch.remaining())))
