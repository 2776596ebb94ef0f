"""A server that webhooks tell, on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Event, Thread

import pytest


class Receiver(HTTPServer):
    def __init__(self) -> None:
        self.got: list[tuple[dict[str, str], str]] = []
        self.answers: list[int] = []
        self.silent = Event()
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/told"


class Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        self.server.got.append(({name.lower(): value for name, value in self.headers.items()}, body))
        if self.server.silent.is_set():
            self.rfile.read(1)  # until whoever asks gives up
            return
        self.send_response(self.server.answers.pop(0) if self.server.answers else 204)
        self.end_headers()

    def log_message(self, *_args: object) -> None:
        pass


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    Thread(target=made.serve_forever, daemon=True).start()
    yield made
    made.shutdown()
    made.server_close()
