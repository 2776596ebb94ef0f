"""Cases of pages and engines whose answers are made to fill the memory or to stop the server's own process, and of texts
that are slow to search."""

from __future__ import annotations

import itertools
import json
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

from agent.evidence.quote_match import find_quote
from agent.retrieval.passages import split_passages
from agent.settings import config
from agent.types import Outcome
from agent.web.extract import dispatch
from agent.web.robots import parse_rules
from agent.web.world import open_world
from bench.trust.laboratory import Laboratory
from bench.trust.scorecard import Bench, Result, case
from bench.trust.traitor import TRUE, YARD, Mind
from tests.web.folders import page
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
    "crossref": {"message": {"items": ["x"]}}
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
    most_s, most_bytes = bench.pick((3.0, MOST_BYTES), (0.3, MOST_BYTES // 4))
    for part in ROBOTS:
        began = time.process_time()
        parse_rules(part * (bench.pick(500_000, 20_000) // len(part)))
        spent = time.process_time() - began
        misses += [f"robots.txt of {part!r}: {spent:.1f} s"] if spent > most_s else []
        count += 1

    def read(body: bytes, content_type: str) -> None:
        found = dispatch.extract_content(body, content_type, "https://a.test/x")
        split_passages(found.to_page(url="https://a.test/x", final_url="https://a.test/x"), "p")

    refresh = b'<meta http-equiv=refresh content="0;url=http://[::1"><p>Milk.'
    bodies = [(refresh, "text/html"), *((b"caf\xe9", f"text/html; charset={name}") for name in LABELS)]
    for part in PAGES:
        kind = "text/html" if "<" in part else "text/plain"
        bodies.append((part.encode() * (bench.pick(4_000_000, 60_000) // len(part)), kind))
    for body, kind in bodies:
        peak, raised = _peak(lambda body=body, kind=kind: read(body, kind))  # type: ignore[misc]
        misses += (
            [f"{kind} {body[:20]!r}: {peak // 1_000_000} MB {raised}"] if raised or peak > most_bytes else []
        )
        count += 1
    for name, answer in ANSWERS.items():
        with Site({"/": Reply(200, json.dumps(answer).encode())}) as site:
            world = open_world("live", config.read_config({"ENGINE_URLS": f"{name}={site.url('/')}"}))
            peak, raised = _peak(lambda world=world, name=name: world.search(name, "milk"))  # type: ignore[misc]
            told = world.health[name].outcome if name in world.health else Outcome.REFUSED
            world.close()
        is_bad = raised or peak > most_bytes or told is Outcome.REFUSED
        misses += [f"{name}: {peak // 1_000_000} MB {told} {raised}"] if is_bad else []
        count += 1
    return Result(count, "all told", misses)


PATTERNS = ("ж ", "+1", "www.", "Волна ", "Milk 12 km. ")
MOST_S = 8
"""Seconds of CPU of a whole run over one such page of 4 MB, and of one search for a quote."""


@case(
    "S10.8",
    "A page of 4 MB of five patterns: CPU of the server's process in a run, and for a quote",
    f"<= {MOST_S} s of 3 flows x 5 patterns, <= 3 s of 45 quotes",
    quick=True,
)
def slow_texts(bench: Bench) -> Result:
    misses, count, worst_run, worst_quote = [], 0, 0.0, 0.0
    size, most_s, most_quote_s = bench.pick((4_000_000, MOST_S, 3), (100_000, 4, 1))
    for pattern in PATTERNS:
        text = f"{TRUE} {pattern * (size // len(pattern.encode()))}"
        for length, form in itertools.product((60, 2_000, 19_000), ("{} nowhere", "nowhere {}", "{} … x")):
            began = time.process_time()
            find_quote(form.format(pattern * (length // len(pattern))), text)
            spent = time.process_time() - began
            count, worst_quote = count + 1, max(worst_quote, spent)
            misses += [f"{pattern} quote {form} of {length}: {spent:.1f} s"] if spent > most_quote_s else []
        for flow in ("site", "collect", "chat")[: bench.pick(3, 1)]:
            with tempfile.TemporaryDirectory() as folder:
                laboratory = Laboratory(Path(folder))
                doc = {**page(YARD, "Ferries", text), "html": f"<title>Ferries</title><p>{text}</p>"}
                began = time.process_time()
                misses += laboratory.trial(flow, Mind(), [doc])
                spent = time.process_time() - began
                laboratory.close()
            count, worst_run = count + 1, max(worst_run, spent)
            misses += [f"{pattern} {flow}: {spent:.1f} s"] if spent > most_s else []
    return Result(count, f"most {worst_run:.1f} s of a run, {worst_quote:.1f} s for a quote", misses)
