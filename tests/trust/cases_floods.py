"""Cases of pages and engines whose answers are made to fill the memory or to stop the server's own process."""

from __future__ import annotations

import time

from agent.web.robots import parse_rules
from tests.trust.scorecard import Bench, Result, case

ROBOTS = (b"\n", b" ", b"\r", b"user-agent:\n", b"%6", b" \n", b"\x0b")


@case(
    "S10.9",
    "Answers made to fill the memory or to stop the server: robots.txt",
    "<= 3 s of CPU each",
    quick=True,
)
def floods(bench: Bench) -> Result:
    misses = []
    for part in ROBOTS:
        began = time.process_time()
        parse_rules(part * (bench.pick(500_000, 60_000) // len(part)))
        spent = time.process_time() - began
        misses += [f"robots.txt of {part!r}: {spent:.1f} s"] if spent > 3 else []
    return Result(len(ROBOTS), "all told", misses)
