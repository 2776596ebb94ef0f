"""Collects from made sites (bench/made_sites.py), without a model: half of fixed seeds, half of fresh ones.

    python -m bench.collect [--sites 10] [--seed N] [--faults]

Prints for each kind of site the shares that seed 001 sets as targets, and how many wanted items were kept and
missed, and how many others were kept. The first fresh seed is printed: `--seed N` repeats the run. Without a
model nobody judges what is wanted: relevance counts all that the structure shows."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

from bench import make_parser, write_figures
from bench.evaluation.collection_score import compute_metrics
from bench.evaluation.runner import EvaluationJob, evaluate
from bench.made_sites import KINDS, write_sites

SHARES = ("extraction", "relevance", "decisions")


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--sites", type=int, default=10, help="sites of each kind, half of them fresh")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--faults", action="store_true", help="print what is not right")
    given = parser.parse_args()
    half = given.sites // 2
    seeds = [*range(half), *range(given.seed, given.seed + given.sites - half)]
    with tempfile.TemporaryDirectory() as folder:
        write_sites(Path(folder), seeds)
        result = evaluate(EvaluationJob(folder, "collect", jobs=given.jobs))
    rows = result["questions"]
    print(f"{len(rows)} sites, fresh ones from --seed {given.seed}")
    print(
        f"{'':12}{'extraction':>11}{'relevance':>11}{'decisions':>11}{'wanted':>8}{'kept':>6}{'missed':>8}{'wrong':>7}"
    )
    fresh = [row for row in rows if int(row["id"].rpartition("-")[2]) >= half]
    groups = {kind: [row for row in rows if row["type"] == kind] for kind in KINDS}
    for name, group in {
        **groups,
        "fixed": [row for row in rows if row not in fresh],
        "fresh": fresh,
        "all": rows,
    }.items():
        found = compute_metrics([{**row, "type": ""} for row in group])
        shares = "".join(f"{found[key]:>11.3f}" for key in SHARES)
        counts = "".join(
            f"{found[key]:>{width}.0f}"
            for key, width in (("wanted", 8), ("kept", 6), ("missed", 8), ("wrong", 7))
        )
        print(f"{name:12}{shares}{counts}")
    if given.faults:
        for row in rows:
            for fault in row["faults"]:
                print(f"{row['id']}: {fault}")
    total = compute_metrics(rows)
    write_figures(given.json, {"sites": len(rows), "seed": given.seed, **total})


if __name__ == "__main__":
    main()
