"""A real web server on 127.0.0.1 that says what a test tells it to, byte for byte, and remembers what it was
asked.

    with Site({"/": html("<p>Hello</p>"), "/old": sends_to("/")}) as site:
        world.fetch(site.url("/old"))
        site.asked                      # [Asked("GET", "/robots.txt", {...}), ...]

A page is a `Reply` or a function of the `Asked`. Unknown paths are 404 (so there is no robots.txt unless a
test gives one)."""

from __future__ import annotations

import socket
import ssl
import struct
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Literal


@dataclass(frozen=True)
class Asked:
    """One request as it came in."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes = b""


@dataclass(frozen=True)
class Reply:
    """What goes over the wire. `ends`: how the connection does. "drips": a byte now and then for ever;
    "stalls": no more byte; "silent": none at all; "resets": it is broken."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    ends: Literal["well", "drips", "stalls", "breaks off", "drips headers", "silent", "resets"] = "well"


Page = Reply | Callable[[Asked], Reply]


def html(body: str, status: int = 200, **headers: str) -> Reply:
    """A page in UTF-8. Header names are written with underscores."""
    named = {name.replace("_", "-").title(): value for name, value in headers.items()}
    return Reply(status, body.encode(), {"Content-Type": "text/html; charset=utf-8", **named})


def sends_to(location: str, status: int = 302) -> Reply:
    """A redirect."""
    return Reply(status, b"", {"Location": location})


class Site:
    """The server, over TLS with a `context`. Runs while the `with` block does."""

    def __init__(self, pages: Mapping[str, Page], context: ssl.SSLContext | None = None) -> None:
        self.pages = dict(pages)
        self.asked: list[Asked] = []
        self.missing: Page = Reply(404, b"no such page")
        self.peers: set[object] = set()
        """Who connected, by address and port."""
        self.over = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads, self._server.block_on_close = True, False
        if context:
            listener = self._server.socket
            self._server.socket = context.wrap_socket(
                listener, server_side=True, do_handshake_on_connect=False
            )
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    def url(self, path: str = "/") -> str:
        """The address of a page of this site."""
        return f"http://127.0.0.1:{self._server.server_port}{path}"

    def paths(self) -> list[str]:
        """The paths that were asked for, in order, robots.txt left out."""
        return [asked.path for asked in self.asked if asked.path != "/robots.txt"]

    def __enter__(self) -> Site:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                length = int(self.headers.get("Content-Length", 0))
                asked = Asked(self.command, self.path, dict(self.headers), self.rfile.read(length))
                site.asked.append(asked)
                site.peers.add(self.client_address)
                page = site.pages.get(self.path.split("?")[0], site.missing)
                self._say(page(asked) if callable(page) else page)

            do_POST = do_GET

            def _say(self, reply: Reply) -> None:
                if reply.ends == "drips headers":
                    self._drip(b"HTTP/1.1 200 OK\r\nX-Slow: ")
                    return
                if reply.ends == "resets":
                    # Lingering for zero seconds makes the kernel send RST instead of FIN.
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    self.connection.close()
                if reply.ends in ("resets", "silent"):
                    self.close_connection = reply.ends == "resets" or site.over.wait(30)
                    return
                self.send_response(reply.status)
                length = len(reply.body) + (1000 if reply.ends in ("breaks off", "drips", "stalls") else 0)
                for name, value in {"Content-Length": str(length), **reply.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(reply.body)
                if reply.ends == "drips":
                    self._drip(b"")
                elif reply.ends == "stalls":
                    self.wfile.flush()
                    site.over.wait(30)
                self.close_connection = reply.ends != "well"

            def _drip(self, start: bytes) -> None:
                self.close_connection = True
                try:
                    self.wfile.write(start)
                    while not site.over.wait(0.02):
                        self.wfile.write(b" ")
                        self.wfile.flush()
                except OSError:
                    return

            def handle(self) -> None:
                with suppress(OSError, ValueError):  # the client went away, or the connection was reset
                    super().handle()

            def finish(self) -> None:
                with suppress(OSError, ValueError):
                    super().finish()

            def log_message(self, *_: object) -> None:
                """Tests read `asked` instead."""

        return Handler
