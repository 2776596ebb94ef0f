"""Cases of page texts that are slow to search: what they cost the server's own process once they are extracted."""

from __future__ import annotations

import itertools
import tempfile
import time
from pathlib import Path

from agent.evidence.quote_match import find_quote
from bench.trust.laboratory import Laboratory
from bench.trust.scorecard import Bench, Result, case
from bench.trust.traitor import TRUE, YARD, Mind
from tests.web.folders import page

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
    size = bench.pick(4_000_000, 300_000)
    for pattern in PATTERNS:
        text = f"{TRUE} {pattern * (size // len(pattern.encode()))}"
        for length, form in itertools.product((60, 2_000, 19_000), ("{} nowhere", "nowhere {}", "{} … x")):
            began = time.process_time()
            find_quote(form.format(pattern * (length // len(pattern))), text)
            spent = time.process_time() - began
            count, worst_quote = count + 1, max(worst_quote, spent)
            misses += [f"{pattern} quote {form} of {length}: {spent:.1f} s"] if spent > 3 else []
        for flow in ("site", "collect", "chat")[: bench.pick(3, 1)]:
            with tempfile.TemporaryDirectory() as folder:
                laboratory = Laboratory(Path(folder))
                doc = {**page(YARD, "Ferries", text), "html": f"<title>Ferries</title><p>{text}</p>"}
                began = time.process_time()
                misses += laboratory.trial(flow, Mind(), [doc])
                spent = time.process_time() - began
                laboratory.close()
            count, worst_run = count + 1, max(worst_run, spent)
            misses += [f"{pattern} {flow}: {spent:.1f} s"] if spent > MOST_S else []
    return Result(count, f"most {worst_run:.1f} s of a run, {worst_quote:.1f} s for a quote", misses)
