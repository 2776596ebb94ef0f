"""How well the confidence of `agent/evidence/confidence.py` is calibrated, from what `python -m agent eval
DIR --json FILE` wrote.

    python -m tests.bench.calibration FILE [FILE ...] [--svg FILE]

Prints for each file and for all: the Brier score, that of a constant guess (the share of right answers), the
ECE; both halves of the questions (by a hash of their ids); and, as a check on the constants, the Brier score
of constants that were fitted on the one half alone and judged on the other. `--svg` draws the reliability
diagram: how many of the answers with a confidence were right."""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Sequence
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np

from agent.evaluation import metrics
from agent.evidence import confidence

RIDGE = 2.0
NAMES = ("plain", "chain", "sharp", "missing", "told", "opens", "joined", "linked", "closed")
"""The constants that are fitted: POINT for "told", else logarithms."""
SIZE, EDGE = 300, 60
COLOURS = ("#14695b", "#8f5c00", "#7a3b69", "#2f5d8a")


def read(path: str) -> list[dict[str, Any]]:
    """The answered, answerable questions of a result that can be right or wrong."""
    rows = json.loads(Path(path).read_text(encoding="utf-8"))["questions"]
    return [
        r
        for r in rows
        if r["answerable"] is True
        and r["verdict"] in ("answered", "partial")
        and r.get("right") is not None
        and r["basis"]
    ]


def inputs(basis: dict[str, float]) -> list[float]:
    """What the constants are multiplied with, in the order of NAMES."""
    chain, shares = (
        basis["chain"],
        log((1 + min(confidence.MAX_ANSWERING_FACTS, basis["told"])) / (1 + basis["bearing"])),
    )
    plain = [
        1 - chain,
        chain,
        basis["sharp"],
        basis["missing"],
        (1 - chain) * shares,
        (1 - chain) * basis["opens"],
    ]
    return [*plain, *(chain * basis[name] for name in ("joined", "linked", "closed"))]


def fitted(rows: Sequence[dict[str, Any]]) -> np.ndarray:
    """The constants that fit these questions best (logistic regression, Newton's method, a small ridge on all
    but the intercepts)."""
    x = np.array([inputs(r["basis"]) for r in rows])
    y, weights = np.array([float(r["right"]) for r in rows]), np.zeros(len(NAMES))
    ridge = np.diag([0.01, 0.01] + [RIDGE * float(x[:, n].var()) for n in range(2, len(NAMES))])
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ weights))
        step = np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x + ridge, x.T @ (y - p) - ridge @ weights)
        weights += step
        if abs(step).max() < 1e-8:
            break
    return weights


def with_constants(rows: Sequence[dict[str, Any]], weights: np.ndarray) -> list[tuple[float, bool]]:
    """The confidences that other constants would have given, where nothing but a single voice was counted."""
    found = []
    for row in rows:
        alone = min(
            confidence.MAX_SINGLE_SOURCE_VALUE, 1 / (1 + exp(-float(np.dot(inputs(row["basis"]), weights))))
        )
        old = confidence.single_source_value(row["basis"])
        found.append((min(1.0, row["confidence"] * alone / old) if old else 0.0, bool(row["right"])))
    return found


def in_first_half(row: dict[str, Any]) -> bool:
    """Half of all questions, whatever set they are of."""
    return hashlib.sha256(row["id"].encode()).digest()[0] % 2 == 0


def told(name: str, pairs: Sequence[tuple[float, bool]]) -> str:
    """One line of the table."""
    return f"{name:<28} {len(pairs):>5}  {metrics.brier(pairs):.4f}  {metrics.constant_brier(pairs):.4f}  {metrics.ece(pairs):.4f}"


def diagram(sets: dict[str, list[dict[str, float]]]) -> str:
    """A reliability diagram as SVG: a line a set, a dot a bin, its area the number of answers."""
    side = SIZE + 2 * EDGE
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {side + 150} {side}" font-family="sans-serif" font-size="12" role="img">',
        "<title>Reliability of the confidence: share of right answers by confidence</title>",
        f'<rect width="{side + 150}" height="{side}" fill="#ffffff"/>',
        f'<path d="M{EDGE} {EDGE + SIZE}L{EDGE + SIZE} {EDGE}" stroke="#999" stroke-dasharray="4 4"/>',
        f'<path d="M{EDGE} {EDGE}V{EDGE + SIZE}H{EDGE + SIZE}" stroke="#333" fill="none"/>',
        f'<text x="{EDGE + SIZE / 2}" y="{side - 8}" text-anchor="middle">confidence of the answer</text>',
        f'<text x="14" y="{EDGE + SIZE / 2}" text-anchor="middle" transform="rotate(-90 14 {EDGE + SIZE / 2})">share of right answers</text>',
    ]
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        at = _spot(tick, tick)
        parts.append(f'<text x="{at[0]}" y="{EDGE + SIZE + 16}" text-anchor="middle">{tick:.0%}</text>')
        parts.append(f'<text x="{EDGE - 6}" y="{at[1] + 4}" text-anchor="end">{tick:.0%}</text>')
    for n, (name, bins) in enumerate(sets.items()):
        colour, spots = (
            COLOURS[n % len(COLOURS)],
            [(_spot(b["confidence"], b["right"]), b["n"]) for b in bins],
        )
        line = "L".join(f"{x} {y}" for (x, y), _ in spots)
        parts.append(f'<path d="M{line}" stroke="{colour}" stroke-width="2" fill="none"/>')
        for (x, y), many in spots:
            size = 1.5 + 0.8 * many**0.5
            parts.append(
                f'<circle cx="{x}" cy="{y}" r="{size:.1f}" fill="{colour}" fill-opacity="0.6"><title>{many:.0f}</title></circle>'
            )
        parts.append(f'<circle cx="{side + 6}" cy="{EDGE + 20 * n}" r="5" fill="{colour}"/>')
        parts.append(f'<text x="{side + 18}" y="{EDGE + 4 + 20 * n}">{name}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _spot(confidence_: float, right: float) -> tuple[float, float]:
    return round(EDGE + SIZE * confidence_, 1), round(EDGE + SIZE * (1 - right), 1)


def main() -> None:
    """Read, print, draw."""
    parser = argparse.ArgumentParser(description="Calibration of the confidence.")
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--svg", type=Path)
    options = parser.parse_args()
    if not options.files:
        print("name the files that `python -m agent eval DIR --json FILE` wrote")
        return
    sets = {Path(file).stem: read(file) for file in options.files}
    everything = [row for rows in sets.values() for row in rows]
    print(f"{'':<28} {'n':>5}  Brier   constant ECE")
    for name, rows in {**sets, "all": everything}.items():
        print(told(name, [(r["confidence"], bool(r["right"])) for r in rows]))
        for half in (True, False):
            here = [r for r in rows if in_first_half(r) is half]
            print(
                told(
                    f"  {'first' if half else 'other'} half",
                    [(r["confidence"], bool(r["right"])) for r in here],
                )
            )
            other = fitted([r for r in everything if in_first_half(r) is not half])
            print(told("    fitted on the other", with_constants(here, other)))
    weights = fitted(everything)
    print("fitted on all:", {name: round(float(w), 2) for name, w in zip(NAMES, weights, strict=True)})
    now = [
        confidence.BASE_ODDS,
        confidence.MULTI_HOP_BASE_ODDS,
        confidence.SHARP_ODDS,
        confidence.MISSING_ODDS,
        exp(confidence.ANSWERING_SHARE_EXPONENT),
        confidence.OPENS_PAGE_ODDS,
    ]
    now += [confidence.JOINED_ODDS, confidence.LINKED_ODDS, confidence.YES_NO_ODDS]
    print("in use:       ", {name: round(log(value), 2) for name, value in zip(NAMES, now, strict=True)})
    if options.svg:
        options.svg.parent.mkdir(parents=True, exist_ok=True)
        options.svg.write_text(
            diagram(
                {
                    **{name: metrics.reliability_bins(rows) for name, rows in sets.items()},
                    "all": metrics.reliability_bins(everything),
                }
            )
        )


if __name__ == "__main__":
    main()
