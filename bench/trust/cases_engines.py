"""The case of search engines that answer with bombs."""

from __future__ import annotations

import gzip
import os
import threading
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from agent.settings import config as configuration
from agent.types import Outcome
from agent.web.world import World, open_world
from bench.trust.cases_pages import read_memory
from bench.trust.scorecard import Bench, Result, case
from tests.web.site import Reply, Site, html

MOST_MB = 600
"""Memory of this process with its children: what the server may use at most."""
MOST_S = 32
"""Seconds until a search has ended: its deadline, and a moment."""
HIT = '<div class="body"><h2>Milk</h2><a href="https://dairy.example.com/">Milk</a></div>'


class FamilyMemory:
    """How much this process and its children grow together meanwhile, in MB."""

    mb = 0.0

    def __enter__(self) -> Self:
        self._before = self._measure()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        is_over = False
        while not is_over:
            is_over = self._over.wait(0.02)
            self.mb = max(self.mb, self._measure() - self._before)

    def _measure(self) -> float:
        children = Path(f"/proc/{os.getpid()}/task").glob("*/children")
        pids = {pid for listed in children for pid in listed.read_text().split()}
        return sum(map(_resident, [str(os.getpid()), *pids]))


def _resident(pid: str) -> float:
    try:
        return read_memory(Path(f"/proc/{pid}/status"), "VmRSS")
    except (OSError, IndexError, StopIteration, ValueError):  # it has just ended
        return 0.0


def searching_world(site: Site, path: str) -> World:
    """The live world with a DuckDuckGo that is a page of this site."""
    return open_world("live", configuration.read_config({"DDG_ENDPOINT": site.url(path)}))


def bombs(scale: float) -> Iterator[tuple[str, Reply]]:
    """Answers that cost their reader much; at 1 the gzip has 611 KB for 315 MB."""
    many = int(105_000_000 * scale)
    zipped = gzip.compress(b"<p>" * many)
    yield "gzip", Reply(200, zipped, {"Content-Encoding": "gzip", "Content-Type": "text/html"})
    deflated = zlib.compress(b"x" * many)
    yield "deflate", Reply(200, deflated, {"Content-Encoding": "deflate", "Content-Type": "text/html"})
    yield "gzip in gzip", Reply(200, gzip.compress(zipped), {"Content-Encoding": "gzip, gzip"})
    yield "plain", html("<p>x" * (many // 12))
    yield "under the limit", html("<p>" * 1_660_000)
    yield "attributes", html("<a " + " ".join(f"a{n}=1" for n in range(60_000)) + ">x</a>")
    yield "results", html(HIT * 50_000)
    yield "one long result", html(HIT.replace("Milk<", "Milk " * 300_000 + "<"))
    yield "nested", html("<div>" * 900_000)
    yield "drips", Reply(200, b"<p>", {"Content-Type": "text/html"}, ends="drips")
    yield "drips headers", Reply(ends="drips headers")
    yield "long header", Reply(200, b"", {"X-Long": "x" * 6_000_000})


@case(
    "S10.5",
    "Bombs of a search engine that ddgs asks: memory with children, CPU of the server, time",
    f"<= {MOST_MB} MB more, <= 1 s of CPU, <= {MOST_S} s each; the next search answers",
)
def engine_bombs(bench: Bench) -> Result:
    misses, count, worst_mb, worst_cpu, worst_s = [], 0, 0.0, 0.0, 0.0
    for name, reply in bombs(bench.pick(1, 0)):
        with Site({"/bomb": reply, "/html/": html(HIT)}) as site:
            with FamilyMemory() as memory:
                began, cpu = time.monotonic(), time.process_time()
                found = searching_world(site, "/bomb").search("duckduckgo", "milk")
                seconds, cpu = time.monotonic() - began, time.process_time() - cpu
            after = searching_world(site, "/html/").search("duckduckgo", "milk")
        count += 1
        worst_mb, worst_cpu = max(worst_mb, memory.mb), max(worst_cpu, cpu)
        worst_s = max(worst_s, seconds)
        if memory.mb > MOST_MB or cpu > 1 or seconds > MOST_S:
            misses.append(f"{name}: {memory.mb:.0f} MB, {cpu:.1f} s of CPU, {seconds:.0f} s")
        misses += [f"{name}: no sentence"] if found.outcome is not Outcome.OK and not found.detail else []
        misses += [f"{name}: the next search {after.outcome}"] if after.outcome is not Outcome.OK else []
    told = f"most {worst_mb:.0f} MB, {worst_cpu:.1f} s of CPU here, {worst_s:.0f} s"
    return Result(count, told, misses)
