"""Crawls a loopback server side by side and holds the crawl against a bare `requests` thread pool in the same run.

    python tests/bench/crawl.py [--pages 500] [--kilobytes 55] [--latency 50] [--side-by-side 32] [--rounds 3]

The server is a process of its own and answers each request after the latency. "Limits lifted": no gap and no cap per host. Ours is
`Tools.fetch_many` with everything that stands in between (guard, robots.txt, deadline, decoding, links, text); the pool only gets
the bytes. Exit code 1 when our own CPU per page is above 12 ms, or our pages per second are below 80 % of the pool's, or of what
one core can do at our CPU per page where that is less.
"""

from __future__ import annotations

import argparse
import multiprocessing
import socketserver
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median

import requests

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from agent import config, toolbox
from agent.store.database import Store
from agent.tools import pace
from agent.tools.worlds import open_world
from agent.types import Outcome, Settings, Step

CPU_MS = 12.0
SHARE = 0.8


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("pages", 500), ("kilobytes", 55), ("latency", 50), ("side-by-side", 32), ("rounds", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    here, there = multiprocessing.Pipe()
    server = multiprocessing.get_context("fork").Process(target=serve, args=(there, options.kilobytes, options.latency / 1000), daemon=True)
    server.start()
    root = f"http://127.0.0.1:{here.recv()}"
    urls = [f"{root}/p/{n}" for n in range(options.pages)]
    try:
        pool, ours = [], []
        for _ in range(options.rounds):
            pool.append(measured(lambda: bare(urls, options.side_by_side), len(urls)))
            ours.append(measured(lambda: crawl(urls, options.side_by_side), len(urls)))
    finally:
        server.terminate()
    return judge(pool, ours)


def judge(pool: list[tuple[float, float]], ours: list[tuple[float, float]]) -> int:
    """Print the medians; 1 when a promise is missed."""
    bare_rate, rate = median(r for r, _ in pool), median(r for r, _ in ours)
    bare_ms, ms = median(c for _, c in pool), median(c for _, c in ours)
    wanted = SHARE * min(bare_rate, 1000 / ms)
    print(f"bare pool   {bare_rate:6.0f} pages/s   {bare_ms:5.2f} ms CPU a page")
    print(f"ours        {rate:6.0f} pages/s   {ms:5.2f} ms CPU a page (at most {CPU_MS:g}), {rate / bare_rate:.0%} of the pool")
    print(f"wanted      {wanted:6.0f} pages/s   ({SHARE:.0%} of the pool, up to what one core does at {ms:.1f} ms a page: {1000 / ms:.0f} pages/s)")
    missed = [name for name, failed in (("CPU", ms > CPU_MS), ("throughput", rate < wanted)) if failed]
    print(f"missed: {', '.join(missed)}" if missed else "both promises are kept")
    return 1 if missed else 0


def measured(work: Callable[[], None], pages: int) -> tuple[float, float]:
    """Pages per second, and milliseconds of this process's CPU per page."""
    began, cpu = time.perf_counter(), time.process_time()
    work()
    return pages / (time.perf_counter() - began), (time.process_time() - cpu) / pages * 1000


def bare(urls: list[str], threads: int) -> None:
    """The bytes of all pages by a plain thread pool, one session a thread."""
    local = threading.local()

    def get(url: str) -> int:
        if not hasattr(local, "session"):
            local.session = requests.Session()
        return len(local.session.get(url, timeout=30).content)

    with ThreadPoolExecutor(threads) as pool:
        assert min(pool.map(get, urls)) > 1000


def crawl(urls: list[str], threads: int) -> None:
    """All pages by the toolbox of a run, politeness lifted."""
    pace.IN_FLIGHT, toolbox.SIDE_BY_SIDE = threads, threads
    with tempfile.TemporaryDirectory() as folder:
        settings = config.read({"TOUCHSTONE_DATA": folder, "FETCH_ALLOW": "127.0.0.1", "FETCH_GAP": "0"})
        store, world = Store(f"sqlite:///{folder}/bench.db"), open_world("live", settings)
        run_id = store.ledger.create("bench", Settings(), Step(n=0, name="ask", change={}, next="decide"))
        lease = store.ledger.claim(run_id, "bench")
        assert lease is not None
        pages = toolbox.Tools(Settings(), world, store, lease).fetch_many(urls, skimmed=True)
        assert all(page.outcome is Outcome.OK and page.links and len(page.text) > 1000 for page in pages), {p.outcome for p in pages}
        world.close()
        store.close()


def serve(pipe: Connection, kilobytes: int, latency: float) -> None:
    """Pages of text and links under /p/N, each after the latency; there is no robots.txt."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1

        def do_GET(self) -> None:
            time.sleep(latency)
            found = self.path.startswith("/p/")
            body = page(self.path, kilobytes) if found else b"no"
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            self.wfile.flush()

        def log_message(self, *_: object) -> None:
            """Nothing to tell."""

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads, allow_reuse_address, request_queue_size = True, True, 128

    with Server(("127.0.0.1", 0), Handler) as server:
        pipe.send(server.server_address[1])
        server.serve_forever()


def page(path: str, kilobytes: int) -> bytes:
    """A page of about that size: a menu, paragraphs with links, a table, a footer. The middle is made once."""
    menu = "".join(f'<li><a href="/section/{n}">Section {n}</a></li>' for n in range(40))
    head = f"<!doctype html><html><head><title>Page {path}</title></head><body><nav><ul>{menu}</ul></nav><main><h1>Page {path}</h1>"
    tail = "</main><footer><p>Made for measuring.</p></footer></body></html>"
    return (head + _middle(kilobytes * 1000 - len(head) - len(tail)) + tail).encode()


_made: dict[int, str] = {}


def _middle(size: int) -> str:
    if size // 100 not in _made:
        parts, n, total = [], 0, 0
        while total < size:
            n += 1
            parts.append(
                f'<h2>Part {n}</h2><p>The {n}. gauge reads the level of the vat every minute and keeps it for a year; see <a href="/manual/{n}">the '
                f'manual, chapter {n}</a>. When the level falls below the mark, the lamp turns red and a message is sent to the person on duty, who '
                f'may <a href="/help/{n}?from=level">ask for help</a>.</p>'
                f"<table><tr><th>Level</th><th>Colour</th></tr><tr><td>{n} %</td><td>red</td></tr></table>"
            )
            total += len(parts[-1])
        _made[size // 100] = "".join(parts)
    return _made[size // 100]


if __name__ == "__main__":
    sys.exit(main())
