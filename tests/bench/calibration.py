"""How well the confidence of `agent/evidence/confidence.py` is calibrated, from what `./touchstone eval
DIR --json FILE` wrote.

    python -m tests.bench.calibration FILE [FILE ...] [--svg FILE]

Prints for each file and for all: the answers, the share of right ones, the Brier score, that of a constant
guess (the share of right answers), the ECE, how many say 80 % or more and how many of these are right; then how
many were right by fit, kind of question, weight of sources and dispute; then the two judgements without a model
(where the web is asked, and one publisher) that fit all files best, and the Brier score of each file with the
judgements fitted to the others, pooled; and that of the best constant of each file. `--svg` draws the reliability diagram: how many of the answers with a confidence were right."""

from __future__ import annotations

import argparse
import itertools
import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from agent.evidence.confidence import compute_value
from agent.types import PartConfidence
from bench.evaluation import metrics

SIZE, EDGE = 300, 60
SURE = 0.8
PUBLISHER_FLOWS = ("site", "collect", "reply", "chat")
COLOURS = ("#14695b", "#8f5c00", "#7a3b69", "#2f5d8a")
Row = dict[str, Any]


def read(path: str) -> list[Row]:
    """The answered, answerable questions of a result that can be right or wrong."""
    result = json.loads(Path(path).read_text(encoding="utf-8"))
    return [
        {**row, "asks_publisher": result["flow"] in PUBLISHER_FLOWS}
        for row in result["questions"]
        if row["answerable"] is True
        and row["verdict"] in metrics.ANSWERED_VERDICTS
        and row.get("right") is not None
        and row.get("parts")
    ]


def describe(name: str, rows: Sequence[Row]) -> str:
    """One line of the table."""
    pairs = [(row["confidence"], bool(row["right"])) for row in rows]
    right = sum(is_right for _, is_right in pairs) / len(pairs)
    scores = (right, metrics.brier(pairs), metrics.constant_brier(pairs), metrics.ece(pairs))
    sure = [is_right for confidence, is_right in pairs if confidence >= SURE]
    told = f"{len(sure) / len(pairs):.0%} sure, {sum(sure) / len(sure):.0%} right" if sure else "never sure"
    return f"{name:<28} {len(pairs):>5}  " + "  ".join(f"{score:.4f}" for score in scores) + f"  {told}"


GROUPS: dict[str, Callable[[Row], str]] = {
    "fit": lambda row: "none" if row.get("fit") is None else f"{row['fit']:.1f}",
    "kind of question": lambda row: "several pages" if row.get("takes_several") else "one page",
    "weight of the sources": lambda row: f"{min(3.0, row['parts'][0]['weight']):.0f}",
    "disputed": lambda row: str(row["parts"][0]["disputed"]),
    "verdict": lambda row: str(row["verdict"]),
}


def group(rows: Sequence[Row], key: Callable[[Row], str]) -> str:
    """The share of right answers by group, each with its number of answers."""
    found: dict[str, list[bool]] = defaultdict(list)
    for row in rows:
        found[key(row)].append(bool(row["right"]))
    return ", ".join(f"{name}: {sum(r) / len(r):.2f} ({len(r)})" for name, r in sorted(found.items()))


def recompute(row: Row, web: float, publisher: float) -> float:
    """The confidence of an answer, had its parts been judged so."""
    judgement = publisher if row["asks_publisher"] else web
    parts = [PartConfidence(**{**part, "judgement": judgement}) for part in row["parts"]]
    return compute_value(parts)


def fit_judgements(rows: Sequence[Row]) -> tuple[float, float]:
    """The judgements (where the web is asked, and one publisher) with the least Brier score, in steps of 0.05."""
    steps = [n / 20 for n in range(15)]
    return min(itertools.product(steps, steps), key=lambda pair: score_judgements(rows, *pair))


def score_judgements(rows: Sequence[Row], web: float, publisher: float) -> float:
    """The Brier score of these answers with these judgements."""
    return metrics.brier([(recompute(row, web, publisher), bool(row["right"])) for row in rows])


def describe_fits(sets: dict[str, list[Row]]) -> str:
    """The best judgements over all sets, and for each set those fitted to the others with its score."""
    everything, pooled = [row for rows in sets.values() for row in rows], 0.0
    lines = ["best judgements over all: {:.2f}, {:.2f}".format(*fit_judgements(everything))]
    for name, rows in sets.items():
        others = [row for other, more in sets.items() if other != name for row in more]
        if rows and others:
            web, publisher = fit_judgements(others)
            score = score_judgements(rows, web, publisher)
            pooled += score * len(rows) / len(everything)
            lines.append(f"{name:<28} by the others: {web:.2f}, {publisher:.2f}, Brier {score:.4f}")
    constants = 0.0
    for rows in filter(None, sets.values()):
        constants += len(rows) * metrics.constant_brier([(0.0, bool(row["right"])) for row in rows])
    lines.append(
        f"each by the others {pooled:.4f}, the best constant of each {constants / len(everything):.4f}"
    )
    return "\n".join(lines)


def draw(sets: dict[str, list[dict[str, float]]]) -> str:
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
        at = _place(tick, tick)
        parts.append(f'<text x="{at[0]}" y="{EDGE + SIZE + 16}" text-anchor="middle">{tick:.0%}</text>')
        parts.append(f'<text x="{EDGE - 6}" y="{at[1] + 4}" text-anchor="end">{tick:.0%}</text>')
    for n, (name, bins) in enumerate(sets.items()):
        colour = COLOURS[n % len(COLOURS)]
        spots = [(_place(b["confidence"], b["right"]), b["n"]) for b in bins]
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


def _place(confidence: float, right: float) -> tuple[float, float]:
    return round(EDGE + SIZE * confidence, 1), round(EDGE + SIZE * (1 - right), 1)


def main() -> None:
    """Read, print, draw."""
    parser = argparse.ArgumentParser(description="Calibration of the confidence.")
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--svg", type=Path)
    options = parser.parse_args()
    if not options.files:
        print("name the files that `./touchstone eval DIR --json FILE` wrote")
        return
    sets = {Path(file).stem: read(file) for file in options.files}
    everything = {**sets, "all": [row for rows in sets.values() for row in rows]}
    print(f"{'':<28} {'n':>5}  right   Brier   constant ECE")
    for name, rows in everything.items():
        if rows:
            print(describe(name, rows))
    for title, key in GROUPS.items():
        print(f"right by {title}: {group(everything['all'], key)}")
    print(describe_fits(sets))
    if options.svg:
        options.svg.parent.mkdir(parents=True, exist_ok=True)
        bins = {name: metrics.reliability_bins(rows) for name, rows in everything.items()}
        options.svg.write_text(draw(bins))


if __name__ == "__main__":
    main()
