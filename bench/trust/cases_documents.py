"""Cases of documents and markup made to be hard to read: parsers, their pool, malformed trees, encodings, depth."""

from __future__ import annotations

import contextlib
import itertools
import re
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from agent.text.dates import ReadingDay
from agent.types import Outcome
from agent.web.extract import dispatch, encoding, html_page
from agent.web.extract.extraction import Extraction
from agent.web.parser_pool import shared_pool
from bench.trust.cases_pages import PARSER_MB, PARSER_S, Peak, read_memory
from bench.trust.scorecard import Bench, Result, case
from tests.agent.web.hostile_pdfs import pdf_of_forms, pdf_of_lines


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
