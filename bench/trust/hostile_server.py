"""A server on 127.0.0.1 that answers in the ways that cost a client its memory or its time."""

from __future__ import annotations

import functools
import gzip
import socket
import socketserver
import threading
import zlib
from collections.abc import Callable
from types import TracebackType

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
Send = Callable[[socket.socket, threading.Event], None]
UNPACKED_MB = 500


@functools.cache
def pack_gzip(megabytes: int) -> bytes:
    """Blanks, packed to a thousandth."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join([*(packer.compress(b" " * 1_000_000) for _ in range(megabytes)), packer.flush()])


def whole(body: bytes, *headers: str) -> Send:
    """One whole answer."""
    named = "".join(f"{header}\r\n" for header in headers).encode()

    def send(peer: socket.socket, _over: threading.Event) -> None:
        peer.sendall(HEAD + named + f"Content-Length: {len(body)}\r\n\r\n".encode() + body)

    return send


def repeat(head: bytes, part: bytes, gap_s: float = 0.0) -> Send:
    """A part for ever."""

    def send(peer: socket.socket, over: threading.Event) -> None:
        peer.sendall(head)
        while not over.wait(gap_s):
            peer.sendall(part)

    return send


def hold(_peer: socket.socket, over: threading.Event) -> None:
    """No answer; the connection ends when `over` is set."""
    over.wait()
    raise ConnectionAbortedError


def list_bombs() -> dict[str, Send]:
    """Answers by what is wrong with them."""
    chunked = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
    return {
        "gzip": whole(pack_gzip(UNPACKED_MB), "Content-Encoding: gzip"),
        "endless": repeat(chunked, b"10000\r\n" + b" " * 0x10000 + b"\r\n"),
        "drip": repeat(chunked, b"1\r\n \r\n", 0.5),
        "drip of headers": repeat(HEAD, b"X: 1\r\n", 0.5),
        "deep": whole(b"[" * 200_000),
        "endless chunk size": repeat(chunked, b"1" * 65536),
        "endless trailer": repeat(chunked + b"0\r\n", b"x" * 65536),
        "br": whole(b"\x8b\x03\x80" * 1000, "Content-Encoding: br"),
        "zstd": whole(b"\x28\xb5\x2f\xfd" * 1000, "Content-Encoding: zstd"),
        "deflate": whole(zlib.compress(b" " * 100_000_000), "Content-Encoding: deflate"),
        "gzip in gzip": whole(gzip.compress(pack_gzip(UNPACKED_MB)), "Content-Encoding: gzip, gzip"),
        "10 MB": whole(b'{"a": "' + b"x" * 10_000_000 + b'"}'),
        "many objects": whole(b"[" + b"{}," * 1_300_000 + b"{}]"),
    }


class HostileServer:
    """Answers every request with `send`; counts what was asked and how many connections are open."""

    def __init__(self, send: Send) -> None:
        self.send, self.asked, self.open = send, 0, 0
        self.over = threading.Event()
        self._lock = threading.Lock()
        hostile = self

        class Handler(socketserver.BaseRequestHandler):
            request: socket.socket

            def handle(self) -> None:
                hostile._count(opened=1)
                try:
                    while read_request(self.request):
                        hostile._count(asked=1)
                        hostile.send(self.request, hostile.over)
                except OSError:
                    return
                finally:
                    hostile._count(opened=-1)

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler, bind_and_activate=False)
        self._server.allow_reuse_address = self._server.daemon_threads = True
        self._server.block_on_close = False
        self._server.server_bind()
        self._server.server_activate()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def _count(self, opened: int = 0, asked: int = 0) -> None:
        with self._lock:
            self.open, self.asked = self.open + opened, self.asked + asked

    def __enter__(self) -> HostileServer:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()


def read_request(peer: socket.socket) -> bool:
    """Read one request to its end; False when there is none any more."""
    data = b""
    while b"\r\n\r\n" not in data:
        if not (part := peer.recv(65536)):
            return False
        data += part
    head, _, body = data.partition(b"\r\n\r\n")
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    left = int(lengths[0].split(b":")[1]) - len(body) if lengths else 0
    while left > 0 and (part := peer.recv(65536)):
        left -= len(part)
    return True
