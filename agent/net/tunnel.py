"""A proxy on this machine for one client that brings sockets of its own (`ddgs` does): each of its
connections passes the guard.

It serves whoever knows its password, connects to one origin, the first that is asked for, so that a redirect
leads nowhere else, and ends with its block, at the deadline or after so many bytes."""

from __future__ import annotations

import base64
import secrets
import selectors
import socket
import threading
from http.client import HTTP_PORT, HTTPS_PORT
from types import TracebackType
from urllib.parse import urlsplit

from agent.net.deadline import BUFFER_BYTES, POLL_SECONDS, Deadline, DeadlineExceeded
from agent.net.ssrf_guard import FetchRefused, HostUnreachable, SsrfGuard

MAX_CONNECTIONS = 8


class Tunnel:
    """The proxy, open while its block runs. `url` names it with its password; `refusal` says why the last
    connection was refused, "" when none was."""

    def __init__(self, guard: SsrfGuard, watch: Deadline, max_bytes: int) -> None:
        self._guard = guard
        self._watch = Deadline(watch.remaining())  # no checkpoint: a stop ends the block
        self._left = max_bytes
        self._origin: tuple[str, int] | None = None
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(POLL_SECONDS)
        password = secrets.token_urlsafe(24)
        self._credentials = b"Basic " + base64.b64encode(f"tunnel:{password}".encode())
        self.url = f"http://tunnel:{password}@127.0.0.1:{self._listener.getsockname()[1]}"
        self.refusal = ""

    def __enter__(self) -> Tunnel:
        threading.Thread(target=self._accept, daemon=True, name="touchstone-tunnel").start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()

    def _accept(self) -> None:
        accepted = 0
        with self._listener:
            while accepted < MAX_CONNECTIONS and self._watch.remaining() and not self._over.is_set():
                try:
                    client, _ = self._listener.accept()
                except TimeoutError:
                    continue
                accepted += 1
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client:
            try:
                server, first = self._connect(client)
                with server:
                    server.sendall(first)
                    self._relay(client, server)
            except FetchRefused as refused:
                self.refusal = str(refused)
            except (HostUnreachable, DeadlineExceeded, OSError):
                return  # the client sees a connection that ends

    def _connect(self, client: socket.socket) -> tuple[socket.socket, bytes]:
        """The connection that the client asks for, and what goes over it first."""
        client.settimeout(max(0.01, self._watch.remaining()))
        head = b""
        while b"\r\n\r\n" not in head:
            received = client.recv(BUFFER_BYTES)
            if not received or len(head) > BUFFER_BYTES:
                raise ConnectionAbortedError
            head += received
        line, *fields = head.partition(b"\r\n\r\n")[0].split(b"\r\n")
        proxied = {name.lower(): value.strip() for name, _, value in (one.partition(b":") for one in fields)}
        if not secrets.compare_digest(proxied.get(b"proxy-authorization", b""), self._credentials):
            raise ConnectionAbortedError
        method, target, version = [*line.split(b" "), b"", b""][:3]
        asked = target.decode("ascii", "replace")
        parts = urlsplit(self._guard.check_url(f"https://{asked}/" if method == b"CONNECT" else asked))
        origin = (parts.hostname or "", parts.port or (HTTPS_PORT if parts.scheme == "https" else HTTP_PORT))
        with self._lock:
            self._origin = self._origin or origin
            if origin != self._origin:
                raise FetchRefused("It sent the search on to another address, which is not followed.")
        server = self._guard.connect(*origin, self._watch)
        if method == b"CONNECT":
            client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            return server, b""
        path = parts.path + (f"?{parts.query}" if parts.query else "")
        kept = [one for one in fields if not one.lower().startswith(b"proxy-")]
        body = head.partition(b"\r\n\r\n")[2]
        return server, b"\r\n".join([b" ".join([method, path.encode(), version]), *kept, b"", body])

    def _relay(self, client: socket.socket, server: socket.socket) -> None:
        with selectors.DefaultSelector() as ready:
            for one, other in ((client, server), (server, client)):
                ready.register(one, selectors.EVENT_READ, (one, other))
            while not self._over.is_set():
                self._watch.check()
                for key, _ in ready.select(POLL_SECONDS):
                    one, other = key.data
                    received = one.recv(BUFFER_BYTES)
                    self._left -= len(received)
                    if not received or self._left < 0:
                        return
                    other.sendall(received)
