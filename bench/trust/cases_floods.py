"""Cases of pages and engines whose answers are made to fill the memory or to stop the server's own process."""

from __future__ import annotations

import json
import time
import tracemalloc
from collections.abc import Callable

from agent.retrieval.passages import split_passages
from agent.settings import config
from agent.types import Outcome
from agent.web.extract import dispatch
from agent.web.robots import parse_rules
from agent.web.world import open_world
from bench.trust.scorecard import Bench, Result, case
from tests.web.site import Reply, Site

ROBOTS = (b"\n", b" ", b"\r", b"user-agent:\n", b"%6", b" \n", b"\x0b")
PAGES = (
    "<h2>a</h2><p>b</p>",
    "<li>a",
    "<table><tr><td>a<td>b",
    "<a href=1>x</a>",
    "Aa bb\n\ncc dd.\n\n",
    "a\n=\n\n",
)
LABELS = ("idna", "undefined", "punycode", "unicode_escape", "utf-7")
LONG = "w" * 20_000
ANSWERS: dict[str, object] = {
    "wikipedia": {"query": {"general": {"server": "//a.test", "articlepath": "$1" * 30_000}, "search": [{"title": LONG}]}},
    "openalex": {"results": [{"id": "https://a.test/", "abstract_inverted_index": {LONG: [1] * 100_000}}]},
    "semanticscholar": {"data": [{"title": "t", "url": "https://a.test/", "year": float("inf")}]},
    "europepmc": {"resultList": {"result": [{"source": "a", "id": "b", "title": LONG * 200, "pubYear": [1]}]}},
    "crossref": {"message": {"items": ["x"]}},
}  # fmt: skip
MOST_BYTES = 100_000_000


def _peak(work: Callable[[], object]) -> tuple[int, str]:
    """The bytes that this process held at most meanwhile, and what was raised."""
    tracemalloc.start()
    try:
        work()
        raised = ""
    except Exception as error:  # what is raised is the miss
        raised = repr(error)[:100]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak, raised


@case(
    "S10.9",
    "Pages, robots.txt and engines' answers made to fill the memory or to stop the server's own process",
    f"none raises or holds more than {MOST_BYTES // 1_000_000} MB here, <= 3 s of CPU for a robots.txt",
    quick=True,
)
def floods(bench: Bench) -> Result:
    misses, count = [], 0
    for part in ROBOTS:
        began = time.process_time()
        parse_rules(part * (bench.pick(500_000, 60_000) // len(part)))
        spent = time.process_time() - began
        misses += [f"robots.txt of {part!r}: {spent:.1f} s"] if spent > 3 else []
        count += 1

    def read(body: bytes, content_type: str) -> None:
        found = dispatch.extract_content(body, content_type, "https://a.test/x")
        split_passages(found.to_page(url="https://a.test/x", final_url="https://a.test/x"), "p")

    refresh = b'<meta http-equiv=refresh content="0;url=http://[::1"><p>Milk.'
    bodies = [(refresh, "text/html"), *((b"caf\xe9", f"text/html; charset={name}") for name in LABELS)]
    for part in PAGES:
        kind = "text/html" if "<" in part else "text/plain"
        bodies.append((part.encode() * (bench.pick(4_000_000, 200_000) // len(part)), kind))
    for body, kind in bodies:
        peak, raised = _peak(lambda body=body, kind=kind: read(body, kind))  # type: ignore[misc]
        misses += (
            [f"{kind} {body[:20]!r}: {peak // 1_000_000} MB {raised}"] if raised or peak > MOST_BYTES else []
        )
        count += 1
    for name, answer in ANSWERS.items():
        with Site({"/": Reply(200, json.dumps(answer).encode())}) as site:
            world = open_world("live", config.read_config({"ENGINE_URLS": f"{name}={site.url('/')}"}))
            peak, raised = _peak(lambda world=world, name=name: world.search(name, "milk"))  # type: ignore[misc]
            told = world.health[name].outcome if name in world.health else Outcome.REFUSED
            world.close()
        is_bad = raised or peak > MOST_BYTES or told is Outcome.REFUSED
        misses += [f"{name}: {peak // 1_000_000} MB {told} {raised}"] if is_bad else []
        count += 1
    return Result(count, "all told", misses)
