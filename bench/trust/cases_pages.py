"""Cases of hostile servers: bombs, slow answers, odd framing, redirect loops, pages that claim to be others."""

from __future__ import annotations

import gzip
import itertools
import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import brotli
import zstandard

from agent.net.exchange import Connections
from agent.types import Outcome
from agent.web.extract import dispatch
from agent.web.fetcher import Fetcher
from bench.trust.nets import fetcher_over, raw_server
from bench.trust.scorecard import Bench, Result, case
from tests.agent.web.hostile_pdfs import pdf_of_lines
from tests.web.site import Asked, Reply, Site, html, sends_to

MAX_MB, PARSER_S, PARSER_MB = 64.0, 5.0, 512.0
OK_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


def local_fetcher(seconds: float = 30, max_mb: float = 10) -> Fetcher:
    """The product's fetcher, allowed to read this machine."""
    return fetcher_over(Connections(["127.0.0.1"]), seconds, max_mb)


OWN = Path("/proc/self/status")


def read_memory(status: Path, name: str) -> float:
    """A figure of memory of a process, in MB."""
    lines = status.read_text(encoding="utf-8").splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith(name))) / 1024


class Peak:
    """The growth of this process's largest resident memory, in MB, and the seconds, of what is done inside."""

    def __enter__(self) -> Peak:
        Path("/proc/self/clear_refs").write_text("5")
        self._before, self._began = read_memory(OWN, "VmRSS"), time.monotonic()
        return self

    def __exit__(self, *_error: object) -> None:
        self.seconds = time.monotonic() - self._began
        self.mb = read_memory(OWN, "VmHWM") - self._before


def _packed(kind: str, size: int) -> bytes:
    plain = b"<p>a</p>" * (size // 8)
    match kind:
        case "gzip":
            return gzip.compress(plain)
        case "deflate":
            return zlib.compress(plain)
        case "br":
            return brotli.compress(plain, quality=4)
    return zstandard.ZstdCompressor().compress(plain)


def bombs(size: int) -> Iterator[tuple[str, bytes]]:
    """Answers that unpack to much more than they weigh, each a whole HTTP response."""
    for kind in ("gzip", "deflate", "br", "zstd"):
        body = _packed(kind, size)
        head = OK_HEAD + b"Content-Encoding: " + kind.encode() + b"\r\n"
        length = b"Content-Length: %d\r\n\r\n" % len(body)
        chunked = b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
        yield f"{kind}, plain", head + b"Connection: close\r\n\r\n" + body
        yield f"{kind}, chunked", head + chunked
        yield f"{kind}, with a length", head + length + body
        yield (
            f"{kind}, on a redirect",
            (head + length + body).replace(b"200 OK", b"302 Found\r\nLocation: /b", 1),
        )
        yield f"{kind}, truncated", head + b"\r\n" + body[: len(body) // 2]
        yield f"{kind}, bad end", head + b"\r\n" + body[:-4] + b"\x00" * 4
        yield f"{kind}, twice", OK_HEAD + f"Content-Encoding: {kind}, {kind}\r\n\r\n".encode() + body
        yield f"{kind}, called gzip", OK_HEAD + b"Content-Encoding: gzip\r\n\r\n" + body
        yield (
            f"{kind}, called text",
            OK_HEAD.replace(b"html", b"plain") + head[len(OK_HEAD) :] + b"\r\n" + body,
        )
    yield "gzip, many members", OK_HEAD + b"Content-Encoding: gzip\r\n\r\n" + _packed("gzip", size // 50) * 50
    nested = gzip.compress(_packed("gzip", size))
    yield "gzip in gzip", OK_HEAD + b"Content-Encoding: gzip\r\n\r\n" + nested
    yield "plain and endless", OK_HEAD + b"\r\n" + b"<p>a</p>" * (size // 8)


@case("S2.1", "Bombs: small answers that unpack to 100 MB", "<= 64 MB, <= 5 s each, never a page", quick=True)
def unpacking(bench: Bench) -> Result:
    cases = bench.thin(bombs(bench.pick(100_000_000, 30_000_000)), 10)
    misses, worst_mb, worst_s = [], 0.0, 0.0
    for name, answer in cases:
        with (
            raw_server(lambda connection, _head, answer=answer: connection.sendall(answer)) as (port, _heads),
            Peak() as peak,
        ):
            page = local_fetcher().fetch(f"http://127.0.0.1:{port}/")
        worst_mb, worst_s = max(worst_mb, peak.mb), max(worst_s, peak.seconds)
        if peak.mb > MAX_MB or bench.is_late(peak.seconds, 5) or page.outcome is Outcome.OK:
            misses.append(f"{name}: {page.outcome.value}, {peak.mb:.0f} MB, {peak.seconds:.1f} s")
    return Result(len(cases), f"largest growth {worst_mb:.0f} MB, slowest {worst_s:.1f} s", misses)


def _drips(first: bytes, piece: bytes = b"x") -> Callable[[socket.socket, bytes], None]:
    def reply(connection: socket.socket, _head: bytes) -> None:
        connection.sendall(first)
        while True:
            time.sleep(0.05)
            connection.sendall(piece)

    return reply


SLOW: dict[str, Callable[[socket.socket, bytes], None]] = {
    "header drips": _drips(b"HTTP/1.1 200 OK\r\nX: "),
    "endless headers": _drips(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"),
    "body drips": _drips(OK_HEAD + b"Content-Length: 100000\r\n\r\n"),
    "chunks drip": _drips(OK_HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
    "stalls in the body": lambda connection, _head: (
        connection.sendall(OK_HEAD + b"\r\n<p>"),
        time.sleep(60),
    )[0],
    "never answers": lambda _connection, _head: time.sleep(60),
    "100 Continue for ever": _drips(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
}


@case("S2.2", "Slow servers", "end at the deadline + 10 %, the thread is free", quick=True)
def slow(bench: Bench) -> Result:
    limit = bench.pick(30, 2)
    misses, times = [], {}

    def one(name: str) -> None:
        with raw_server(SLOW[name]) as (port, _heads):
            began = time.monotonic()
            page = local_fetcher(limit).fetch(f"http://127.0.0.1:{port}/")
            times[name] = time.monotonic() - began
            is_late = bench.is_late(times[name], limit * 1.1 + 0.5)
            if is_late or page.outcome not in (Outcome.TIMEOUT, Outcome.ERROR):
                misses.append(f"{name}: {page.outcome.value} after {times[name]:.1f} s")

    threads = [threading.Thread(target=one, args=(name,), daemon=True) for name in SLOW]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60 + limit)
    misses += [f"{name}: never ended" for name in SLOW if name not in times]
    return Result(len(SLOW), f"slowest {max(times.values()):.1f} s at a deadline of {limit} s", misses)


FRAMES = {
    "not HTTP": b"SSH-2.0-OpenSSH_9.2\r\n",
    "empty": b"",
    "garbage": bytes(range(256)) * 40,
    "status 999": b"HTTP/1.1 999 No\r\nContent-Length: 0\r\n\r\n",
    "status not a number": b"HTTP/1.1 abc OK\r\n\r\n",
    "two lengths": OK_HEAD + b"Content-Length: 5\r\nContent-Length: 50\r\n\r\nhello",
    "negative length": OK_HEAD + b"Content-Length: -1\r\n\r\n<p>hello",
    "huge length": OK_HEAD + b"Content-Length: 99999999999999999999\r\n\r\n<p>hello",
    "bad chunk": OK_HEAD + b"Transfer-Encoding: chunked\r\n\r\nZZ\r\nhello",
    "300 headers": b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 300 + b"\r\n",
    "header of 1 MB": b"HTTP/1.1 200 OK\r\nX: " + b"y" * 10**6 + b"\r\n\r\n",
    "folded headers": b"HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 0\r\n\r\n",
    "header with NUL": b"HTTP/1.1 200 OK\r\nX: a\x00b\r\nContent-Length: 0\r\n\r\n",
    "bad cookie": b"HTTP/1.1 200 OK\r\nSet-Cookie: \xff\xfe=;;;=\r\nContent-Length: 0\r\n\r\n",
    "bad redirect": b"HTTP/1.1 302 Found\r\nLocation: http://[::1\r\nContent-Length: 0\r\n\r\n",
}


@case("S2.3", "Odd framing and headers", "an outcome each, 1 request each", quick=True)
def framing(bench: Bench) -> Result:
    misses = []
    for name, answer in FRAMES.items():
        with raw_server(lambda connection, _head, answer=answer: connection.sendall(answer)) as (port, heads):
            try:
                local_fetcher(5).fetch(f"http://127.0.0.1:{port}/")
            except Exception as error:
                misses.append(f"{name}: {type(error).__name__}: {error}")
            pages = [head for head in heads if b"robots.txt" not in head.split(b"\r\n")[0]]
            misses += [f"{name}: asked {len(pages)} times"] if len(pages) > 1 else []
    return Result(len(FRAMES), f"{len(misses)} raised or asked again", misses)


@case("S2.4", "Redirect loops, growing addresses, cookie loops", "<= 10 hops", quick=True)
def loops(bench: Bench) -> Result:
    def grow(asked: Asked) -> Reply:
        return sends_to(f"/g?{'x' * (2 * len(asked.path) + 1)}")

    count = itertools.count()
    pages = {
        "/self": sends_to("/self"),
        "/a": sends_to("/b"),
        "/b": sends_to("/a"),
        "/g": grow,
        "/c": lambda _asked: Reply(302, b"", {"Location": "/c", "Set-Cookie": f"n={next(count)}"}),
        "/n": lambda _asked: sends_to(f"/n?{next(count)}"),
        "/m": lambda _asked: html(f"<meta http-equiv=refresh content='0;url=/m?{next(count)}'>"),
    }
    misses = []
    with Site(pages) as site:
        for path in ("/self", "/a", "/g", "/c", "/n", "/m"):
            site.asked.clear()
            page = local_fetcher().fetch(site.url(path))
            hops = len(site.paths()) - 1
            misses += (
                [f"{path}: {hops} hops, {page.outcome.value}"]
                if hops > 10 or page.outcome is Outcome.OK
                else []
            )
    return Result(6, f"{len(misses)} went on", misses)


LIES: list[tuple[str, bytes, str]] = [
    ("PDF as HTML", pdf_of_lines(2), "text/html"), ("HTML as PDF", b"<p>Milk and cheese.</p>", "application/pdf"),
    ("PNG", b"\x89PNG\r\n\x1a\n" + bytes(99), "text/html"), ("ZIP", b"PK\x03\x04" + bytes(200), "text/html"),
    ("ELF", b"\x7fELF" + bytes(999), "text/plain"), ("NULs", bytes(9999), "text/html"), ("nothing", b"", "text/html"),
    ("mp4", bytes(4) + b"ftypisom" + bytes(999), "text/html"), ("half a PDF", b"%PDF-1.7\n1 0 obj\n<<", "application/pdf"),
    ("XML bomb", b'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><l>&b;</l>', "text/xml"),
    ("outside entity", b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><x>&a;</x>', "application/xml"),
    ("SVG with a script", b"<svg><script>alert(1)</script><text>Milk</text></svg>", "image/svg+xml"),
    ("UTF-16", "\ufeff<p>Milk and cheese</p>".encode("utf-16"), "text/html; charset=utf-8"),
    ("unknown charset", b"<p>Milk</p>", "text/html; charset=klingon"), ("JSON", b'{"a": "milk"}', "text/html"),
    ("broken UTF-8", b"<p>\xff\xfe\xc0\xaf milk</p>", "text/html; charset=utf-8"), ("docx that is none", b"PK\x03\x04word/", "application/msword"),
    ("no type", b"<p>Milk and cheese.</p>", ""), ("odd type", b"<p>Milk.</p>", "text/;;;=\x00"), ("gzip body", gzip.compress(b"<p>Milk"), "text/html")
]  # fmt: skip


@case(
    "S2.8", "Bodies that are not what they say", "an outcome each, nothing of this machine in it", quick=True
)
def lies(bench: Bench) -> Result:
    misses = []
    for name, body, kind in LIES:
        try:
            page = dispatch.extract_content(body, kind, "https://a.example/")
        except Exception as error:
            misses.append(f"{name}: {type(error).__name__}: {error}")
            continue
        misses += [f"{name}: {page.text[:60]!r}"] if "root:" in page.text or "\x00" in page.text else []
    return Result(len(LIES), f"{len(misses)} raised or leaked", misses)
