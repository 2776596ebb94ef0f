"""Cases of hostile pages and servers: bombs, slow servers, odd framing, parsers, encodings, robots.txt, traps."""

from __future__ import annotations

import ast
import contextlib
import gzip
import itertools
import re
import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import brotli
import zstandard

from agent import config as configuration
from agent.types import CollectLimits, Outcome, Settings, SiteLimits, Status
from agent.web.extract import dispatch, encoding, html_page
from agent.web.extract.extraction import Extraction
from agent.web.extract.page_dates import ReadingDay
from agent.web.fetcher import Fetcher
from agent.web.parser_pool import shared_pool
from agent.web.rate_limit import HostRateLimiter
from agent.web.robots import RobotsCache, RobotsResponse, can_fetch, parse_rules
from agent.web.ssrf_guard import SsrfGuard
from agent.web.transport import GuardedAdapter
from agent.workbench import Workbench
from tests.agent.web.hostile_pdfs import pdf_of_forms, pdf_of_lines
from tests.trust.nets import raw_server
from tests.trust.scorecard import Bench, Result, case
from tests.web.site import Asked, Reply, Site, html, sends_to

MAX_MB, PARSER_S, PARSER_MB = 64.0, 5.0, 512.0
OK_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


def local_fetcher(seconds: float = 30, max_mb: float = 10) -> Fetcher:
    """The product's fetcher, allowed to read this machine."""
    guard = SsrfGuard(["127.0.0.1"])
    return Fetcher(
        GuardedAdapter(guard), guard, HostRateLimiter(0.0), seconds=seconds, max_bytes=int(max_mb * 1e6)
    )


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
            raw_server(lambda connection, _head, answer=answer: connection.sendall(answer)) as (
                port,
                _heads,
            ),
            Peak() as peak,
        ):
            page = local_fetcher().fetch(f"http://127.0.0.1:{port}/")
        worst_mb, worst_s = max(worst_mb, peak.mb), max(worst_s, peak.seconds)
        if peak.mb > MAX_MB or peak.seconds > 5 or page.outcome is Outcome.OK:
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
    limit = bench.pick(30, 2) if not bench.quick else 2
    misses, times = [], {}

    def one(name: str) -> None:
        with raw_server(SLOW[name]) as (port, _heads):
            began = time.monotonic()
            page = local_fetcher(limit).fetch(f"http://127.0.0.1:{port}/")
            times[name] = time.monotonic() - began
            if times[name] > limit * 1.1 + 0.5 or page.outcome not in (Outcome.TIMEOUT, Outcome.ERROR):
                misses.append(f"{name}: {page.outcome.value} after {times[name]:.1f} s")

    threads = [threading.Thread(target=one, args=(name,), daemon=True) for name in SLOW]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(limit * 2 + 5)
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


def hostile_documents(scale: float) -> Iterator[tuple[str, str, bytes]]:
    """Documents that cost their reader much, as (name, type, body); `scale` 1 is near the limit of a page."""
    many = int(200_000 * scale)
    texts = {
        "attributes": "<a " + " ".join(f"a{n}=1" for n in range(many)) + ">x</a>",
        "attributes of many tags": ("<p " + " ".join(f"b{n}" for n in range(200)) + ">x") * (many // 100),
        "nested div": "<div>" * many + "x",
        "nested tables": "<table><tr><td>" * (many // 2) + "x",
        "paragraphs": "<p>x" * (many * 5),
        "misnested formatting": "<b><i><a><p>" * (many // 2) + "x",
        "misnested tables": "<table><b><tr><td></table>" * (many // 2),
        "open comments": "<!-- <p>x " * many,
        "open tags": "<a" * many * 4,
        "entities": "&amp;&lt;&#65;&notanentity" * many,
        "one long word": "<p>" + "x" * (many * 40),
        "links": "".join(f"<li><a href='/{n}'>a {n}</a>" for n in range(many)),
        "definition lists": "<dl><dt>a<dd>b" * many,
        "table cells": "<table>" + "<tr><td>1<td>2<td>3" * many,
        "many spans of a table": "<table><tr><td colspan=1000 rowspan=65534>x" * (many // 100),
        "posts": "<article class=post><a class=author>n</a><time>2020-01-01</time><p>text</p></article>"
        * (many // 10),
        "JSON-LD": '<script type="application/ld+json">' + '{"a":[' * (many // 4) + "</script><p>x",
        "selects": "<select><option>" * many,
    }
    for name, text in texts.items():
        yield name, "text/html", text.encode()
    yield "lines without end", "text/plain", b"a " * (many * 20)
    yield "XML entities", "application/xml", b"<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'>]><x>" + b"&a;" * many * 4
    yield "CSV", "text/csv", b'"a,' * many * 5
    yield "PDF of lines", "application/pdf", pdf_of_lines(int(1_500_000 * scale))
    yield "PDF of forms", "application/pdf", pdf_of_forms(3 + int(6 * scale))


class _Stopped(Exception):
    pass


def pool_cost() -> tuple[float, float]:
    """Seconds of CPU and largest MB of the pool's processes that live; one that the kernel ended at its limit has
    cost no more than that."""
    cpu = mb = 0.0
    for parser in shared_pool._idle:
        folder = Path(f"/proc/{parser._process.pid}")
        fields = (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        cpu += (int(fields[11]) + int(fields[12])) / 100
        mb = max(mb, read_memory(folder / "status", "VmHWM"))
    return cpu, mb


def read_content(body: bytes, kind: str, checkpoint: Callable[[], None] = lambda: None) -> None:
    """As every flow reads a page."""
    dispatch.extract_content(body, kind, "https://a.example/x", checkpoint)


def read_structure(body: bytes, kind: str, checkpoint: Callable[[], None] = lambda: None) -> None:
    """As Collect reads the markup of a page: its posts, links and next page."""
    at = "https://a.example/x"
    known = {"url": at, "final_url": at, "content_type": kind, "fetched_at": "2026-01-01"}
    page = Extraction(text="x").to_page(**known, raw=body)
    dispatch.extract_structure(page, ReadingDay("2026-01-01"), checkpoint)


def hostile_readings(scale: float) -> Iterator[tuple[str, Callable[[Callable[[], None]], None], int]]:
    """Each such document as (name, what reads it, bytes); of a page its content, and its structure."""
    for name, kind, whole in hostile_documents(scale):
        body = whole[:10_000_000]
        yield name, partial(read_content, body, kind), len(body)
        if kind == "text/html":
            yield f"structure of {name}", partial(read_structure, body, kind), len(body)


@case("S2.5", "Documents made to be slow to read", "<= 5 s of CPU, <= 512 MB each, next one unaffected")
def parsers(bench: Bench) -> Result:
    misses, count, worst_mb, worst_s = [], 0, 0.0, 0.0
    for scale in (0.05, 0.3, 1.0):
        for name, read, size in hostile_readings(scale):
            began, cpu = time.process_time(), pool_cost()[0]
            with Peak() as peak:
                try:
                    read(lambda: None)
                except Exception as error:
                    misses.append(f"{name} x {scale}: {type(error).__name__}: {error}")
            spent, mb = pool_cost()
            seconds, mb = time.process_time() - began + max(0.0, spent - cpu), max(mb, peak.mb)
            count, worst_mb, worst_s = count + 1, max(worst_mb, mb), max(worst_s, seconds)
            if seconds > PARSER_S + 0.5 or mb > PARSER_MB or peak.seconds > 6 * PARSER_S + 2:
                misses.append(
                    f"{name} x {scale} ({size:,} bytes): {seconds:.1f} s, {mb:.0f} MB, {peak.seconds:.0f} s by the clock"
                )
    after = dispatch.extract_content(
        b"<p>The vat holds 400 litres of milk.</p>", "text/html", "https://a.example/"
    )
    misses += [] if "400 litres" in after.text else ["the next page was not read"]
    return Result(count, f"slowest {worst_s:.1f} s of CPU, largest {worst_mb:.0f} MB", misses)


@case("S2.5s", "Stop while such a document is read", "ends <= 1 s")
def stopped_parsers(bench: Bench) -> Result:
    misses, times = [], []
    for name, read, _ in hostile_readings(1.0):
        began = time.monotonic()

        def checkpoint(began: float = began) -> None:
            if time.monotonic() - began > 0.3:
                raise _Stopped

        with contextlib.suppress(_Stopped):
            read(checkpoint)
        late = time.monotonic() - began - 0.3
        times.append(late)
        misses += [f"{name}: {late:.1f} s after Stop"] if late > 1 else []
    return Result(len(times), f"slowest {max(times):.1f} s after Stop", misses)


@case("S2.5p", "The pool of parser processes: limits, Stop, kill, no process left", "all tests")
def pool(bench: Bench) -> Result:
    return bench.tests("tests/agent/web/test_parser_pool.py")


def _sections(text: str, names: tuple[str, ...]) -> Iterator[dict[str, str]]:
    """The test cases of an html5lib .dat file."""
    for block in re.split(r"(?:^|\n)#data\n", text)[1:]:
        parts = re.split(r"^#([a-z-]+)\n", block, flags=re.MULTILINE)
        yield {"data": parts[0].removesuffix("\n"), **dict(zip(parts[1::2], parts[2::2], strict=False))}


@case("S2.6", "Malformed HTML trees through the reader (html5lib)", "0 exceptions of 1,796")
def malformed(bench: Bench) -> Result:
    files = {
        n: b
        for n, b in bench.archive("html5lib/html5lib-tests.tar.gz").items()
        if "tree" in n and n.endswith(".dat")
    }
    misses, count = [], 0
    for name, body in files.items():
        for found in _sections(body.decode("utf-8", "surrogateescape"), ()):
            count += 1
            try:
                data = found["data"].encode("utf-8", "surrogateescape")
                dispatch.extract_content(data or b" ", "text/html", "https://a.example/")
                html_page.extract_html(data.decode("utf-8", "replace"), "https://a.example/")
            except Exception as error:
                misses.append(f"{name}: {found['data'][:80]!r}: {type(error).__name__}: {error}")
    return Result(count, f"{len(misses)} exceptions", misses)


WORDS = ("日本語テスト", "łódź žluťoučký", "привет мир", "café Ärger", "한국어 시험", "中文字")


def _encodable(name: str) -> tuple[str, bytes]:
    """A word that an encoding can write, and how."""
    for word in WORDS:
        with contextlib.suppress(UnicodeEncodeError):
            return word, word.encode(name)
    raise AssertionError(name)


@case("S2.6e", "Encodings of pages (html5lib)", ">= 80 of 82 as the standard says")
def encodings(bench: Bench) -> Result:
    files = bench.archive("html5lib/html5lib-tests.tar.gz")
    misses, count = [], 0
    for name, body in files.items():
        if not name.startswith("encoding/") or not name.endswith(".dat") or "scripted" in name:
            continue
        for block in re.split(rb"(?:^|\n)#data\n", body)[1:]:
            data, _, label = block.partition(b"\n#encoding\n")
            expected = label.split(b"\n")[0].decode().strip().lower()
            count += 1
            word, written = _encodable(expected)
            got = encoding.decode(data + b"<p>" + written + b"</p>", "text/html")
            misses += [f"{name}: {data[:60]!r} is {expected}"] if word not in got else []
    return Result(count, f"{count - len(misses)} of {count} right", misses, count - len(misses) >= 80)


@case(
    "S2.7", "A fact below 200 to 5,000 nested elements", "found or flagged, never silently empty", quick=True
)
def deep(bench: Bench) -> Result:
    misses = []
    for depth, tag in itertools.product(
        (200, 254, 256, 500, 1000, 2000, 3500, 5000), ("div", "table><tr><td", "blockquote")
    ):
        source = f"<{tag}>" * depth + "<p>The vat holds 400 litres of milk in the cellar.</p>"
        page = dispatch.extract_content(source.encode(), "text/html", "https://a.example/")
        if "400 litres" not in page.text and page.outcome is Outcome.OK:
            misses.append(f"{tag} {depth}: {page.outcome.value}, {page.text[:40]!r}")
    return Result(24, f"{len(misses)} silently empty", misses)


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
    ("no type", b"<p>Milk and cheese.</p>", ""), ("odd type", b"<p>Milk.</p>", "text/;;;=\x00"), ("gzip body", gzip.compress(b"<p>Milk"), "text/html"),
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


def _expectations(text: str) -> Iterator[tuple[bytes, str, str, bool, bool]]:
    """(robots.txt, address, agent, allowed, is of Google only) of a textproto file of the specification."""
    token = re.compile(r'"(?:[^"\\]|\\.)*"|[\w:]+|[{}\[\]]')
    robots, fields, key = b"", dict[str, str](), ""
    held = bytearray()
    for found in token.findall(re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE)):
        if found.startswith('"'):
            held += ast.literal_eval(
                "b" + re.sub(r"[^\x00-\x7f]", lambda m: "".join(f"\\x{b:02x}" for b in m[0].encode()), found)
            )
            if key == "robotstxt":
                robots = bytes(held)
            else:
                fields[key] = bytes(held).decode("utf-8", "surrogateescape")
        elif found.endswith(":"):
            key, held = found[:-1], bytearray()
        elif found in ("ALLOWED", "DISALLOWED", "GOOGLE_SPECIFIC", "STANDARD"):
            fields[key] = found
        elif found == "}" and "testurl" in fields:
            allowed, only = (
                fields["expected_outcome"] == "ALLOWED",
                fields.get("test_type") == "GOOGLE_SPECIFIC",
            )
            yield robots, fields["testurl"], fields.get("useragent", ""), allowed, only
            fields = {}


@case("S2.9", "robots.txt by the specification's test (Google)", ">= 379 of 400, standard 124 of 124")
def robots(bench: Bench) -> Result:
    right, standard, misses = 0, [0, 0], []
    total = 0
    for name, body in bench.archive("robots/robotstxt-spec-test.tar.gz").items():
        if not name.endswith(".textproto"):
            continue
        for text, url, agent, allowed, only in _expectations(body.decode()):
            try:
                said = can_fetch(parse_rules(text), url, agent)
            except Exception as error:
                said, url = not allowed, f"{url} {type(error).__name__}"
            is_standard = name.startswith("correctness") and not only
            total, right = total + 1, right + (said == allowed)
            standard = [standard[0] + (is_standard and said == allowed), standard[1] + is_standard]
            if said != allowed:
                kind = "standard" if is_standard else "Google's own" if only else "stress"
                misses.append(
                    f"{kind}, {name}: {url} for {agent!r} should be {'allowed' if allowed else 'disallowed'}"
                )
    passed = right >= 379 and standard[0] == standard[1]
    return Result(total, f"{right} of {total}; standard {standard[0]} of {standard[1]}", misses, passed)


@case("S2.10", "Real robots.txt files", "0 exceptions, <= 50 ms each")
def real_robots(bench: Bench) -> Result:
    folder = bench.corpus("robots/real")
    misses, slowest, files = [], 0.0, sorted(path for path in folder.rglob("*") if path.is_file())
    for path in files:
        began = time.thread_time()
        try:
            rules = RobotsCache().get_rules(
                "https://a.test/", lambda _u, p=path: RobotsResponse(200, p.read_bytes())
            )
            rules.explain_refusal("https://a.test/some/page?x=1")
        except Exception as error:
            misses.append(f"{path.name}: {type(error).__name__}")
        slowest = max(slowest, took := time.thread_time() - began)
        misses += [f"{path.name}: {took * 1000:.0f} ms"] if took > 0.05 else []
    return Result(len(files), f"slowest {slowest * 1000:.0f} ms", misses)


@case("S2.11", "Fetching robots.txt: statuses, redirects, size, caching", "RFC 9309")
def robots_fetched(bench: Bench) -> Result:
    return bench.tests("tests/agent/web/test_robots.py")


@case("S2.12", "Retry-After and the pace of a host", "never early")
def pace(bench: Bench) -> Result:
    return bench.tests(
        "tests/agent/web/test_rate_limit.py", "tests/agent/web/test_fetcher.py", "tests/agent/text",
        "-k", "rate_limit or rest or attempts or retry",
    )  # fmt: skip


def _trap(kind: str) -> Callable[[Asked], Reply]:
    """Pages without end: each links to more of its kind, all of them new."""

    def reply(asked: Asked) -> Reply:
        number = int((re.findall(r"\d+", asked.path) or ["0"])[-1])
        words = f"<p>The harbour ledger of day {number} lists boats and nets.</p>"
        links = {
            "calendar": "".join(
                f"<a href='/t/calendar/{number + n}'>Day {number + n}</a>" for n in (1, 2, 3)
            ),
            "session": f"<a href='/t/session/{number + 1}?sid={number:08x}'>Ledger</a>",
            "facets": "".join(
                f"<a href='/t/facets/{number + n}?a={n}&b={number}&c=1'>Boats {n}</a>" for n in range(1, 9)
            ),
            "soft 404": "".join(
                f"<a href='/t/soft/{number * 7 + n}/ledger'>Ledger {n}</a>" for n in range(1, 5)
            ),
        }.get(kind, "")
        if kind == "redirects":
            return (
                sends_to(f"/t/redirects/{number + 1}")
                if number % 5
                else html(f"{words}<a href='/t/redirects/{number + 1}'>Next</a>")
            )
        return html(f"<title>Ledger {number}</title><main>{words}{links}</main>")

    return reply


class _Trap(dict[str, Callable[[Asked], Reply]]):
    """Every path is a page of the trap."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind

    def get(self, path: str, default: object = None) -> object:  # type: ignore[override]
        if path == "/robots.txt":
            return Reply(200, b"User-agent: *\nAllow: /\n")
        if path.endswith(".xml"):
            more = f"<sitemap><loc>/s{abs(hash(path)) % 10**6}.xml</loc></sitemap>" * (
                self.kind == "sitemaps"
            )
            return Reply(200, f"<sitemapindex>{more}</sitemapindex>".encode(), {"Content-Type": "text/xml"})
        return _trap(self.kind)


@case(
    "S2.14",
    "Traps: calendar, session ids, facets, sitemaps of sitemaps, soft 404, redirects",
    "within the page limit",
)
def traps(bench: Bench) -> Result:
    limit, misses, asked = 30, [], {}
    limits = {"site": SiteLimits(max_pages=limit), "collect": CollectLimits(max_pages=limit)}
    for kind, flow in itertools.product(
        ("calendar", "session", "facets", "sitemaps", "soft 404", "redirects"), ("site", "collect")
    ):
        opened = Workbench(configuration.read_config({"FETCH_ALLOW": "127.0.0.1", "FETCH_GAP": "0"}))
        with Site({}) as site:
            site.pages = _Trap(kind)
            settings = Settings(
                flow=flow,
                world="live",
                model="keyless",
                start_urls=[site.url("/t/0")],
                **{flow: limits[flow]},
            )
            run_id = opened.start("What does the harbour ledger of day 3 list?", settings)
            status = opened.drive(run_id)
            pages = [path for path in site.paths() if not path.endswith((".xml", ".txt"))]
            maps = len(site.paths()) - len(pages)
            asked[kind, flow] = len(pages)
            hops = 11 if kind == "redirects" else 1
            if status is Status.FAILED or len(pages) > limit * hops + 10 or maps > 50:
                misses.append(f"{kind}, {flow}: {len(pages)} pages and {maps} maps asked for, {status.value}")
        opened.shutdown()
    return Result(len(asked), f"most requests {max(asked.values())} at a limit of {limit} pages", misses)


@case("S2.15", "Memory of a quote checked against a page of 10 MB", "<= 64 MB")
def quote_memory(bench: Bench) -> Result:
    return bench.tests("tests/agent/evidence/test_quote_match_size.py")
