"""How well code and a judge tell supported from unsupported claims, from what `./touchstone check` wrote.

    python -m tests.bench.claims FILE_WITH_LABELS [RESULTS] [--model keyless|NAME] [--svg FILE]

FILE_WITH_LABELS has a JSON object a line (".gz" too): `id, quote, statement, question?, label` (supported |
contradicted | not_stated) and, if known, `source`, `kind` and `lang`. Without RESULTS the command is run on it.

Each cell is "supported / unsupported" in percent: verdict quoted or computed; vetoed; vetoed or doubted (with a
judge: or not supported); and what is left for a judge (not_checked). Then the goals, and what is left. `--svg`
draws, by source, the share of unsupported claims that are caught against that of supported claims that are
caught with them, as one alarm after another is counted: vetoes, doubts, all that is not quoted or computed."""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

CERTAIN = {"quoted", "computed"}
ALARMS = [{"vetoed"}, {"vetoed", "doubted", "not_supported"}]
OPEN = {"not_checked"}
CHANGED_FIGURES, CHANGED_WORDS = {"number", "date"}, {"name", "negation", "quantifier"}
PANEL, EDGE, COLUMNS = 170, 34, 5


@dataclass(frozen=True)
class Checked:
    """A labelled claim with the verdict on it."""

    label: str
    source: str
    kind: str
    lang: str
    verdict: str

    @property
    def is_supported(self) -> bool:
        """Whether the label says so."""
        return self.label == "supported"


def read_rows(path: str) -> list[dict[str, Any]]:
    """The objects of a file of JSON lines, or of a JSON list, packed or not."""
    raw = Path(path).read_bytes()
    text = (gzip.decompress(raw) if raw.startswith(b"\x1f\x8b") else raw).decode("utf-8")
    if text.lstrip().startswith("["):
        return list(json.loads(text))
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def run_check(file: str, model: str) -> list[dict[str, Any]]:
    """What the command writes for a file."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "results.jsonl"
        command = [sys.executable, "-m", "agent", "check", file, "--model", model, "--json", str(out)]
        subprocess.run(command, check=True)
        return read_rows(str(out))


def join_verdicts(labelled: Sequence[dict[str, Any]], results: Sequence[dict[str, Any]]) -> list[Checked]:
    """Each labelled claim with its verdict. Raises SystemExit when one has none."""
    verdicts = {str(row["id"]): str(row["verdict"]) for row in results}
    missing = [row["id"] for row in labelled if str(row["id"]) not in verdicts]
    if missing:
        raise SystemExit(f"{len(missing)} claims have no result, the first is {missing[0]}")
    return [
        Checked(
            row["label"],
            row.get("source", "-"),
            row.get("kind", "-"),
            row.get("lang", "-"),
            verdicts[str(row["id"])],
        )
        for row in labelled
    ]


def share(claims: Sequence[Checked], verdicts: Iterable[str]) -> float:
    """The share of claims with one of these verdicts, 0 to 1; 0 without any claim."""
    wanted = set(verdicts)
    return sum(claim.verdict in wanted for claim in claims) / len(claims) if claims else 0.0


def print_table(claims: Sequence[Checked], title: str, key: Callable[[Checked], str]) -> None:
    """One line a group: its counts and four pairs of percentages."""
    groups = sorted({key(claim) for claim in claims})
    print(f"\n{title:18} {'n':>11} {'quoted':>11} {'vetoed':>11} {'+doubted':>11} {'judge':>11}")
    for group in [*groups, "all"] if len(groups) > 1 else groups:
        inside = [claim for claim in claims if group == "all" or key(claim) == group]
        sides = [[c for c in inside if c.is_supported], [c for c in inside if not c.is_supported]]
        cells = [f"{len(sides[0])}/{len(sides[1])}"]
        for verdicts in (CERTAIN, *ALARMS, OPEN):
            cells.append(" / ".join(f"{100 * share(side, verdicts):.1f}" if side else "–" for side in sides))
        print(f"{group:18} " + " ".join(f"{cell:>11}" for cell in cells))


def print_goals(claims: Sequence[Checked]) -> None:
    """What is promised (DECISIONS.md, "Claim check"), with the counts."""
    supported = [claim for claim in claims if claim.is_supported]
    unsupported = [claim for claim in claims if not claim.is_supported]
    figures = [claim for claim in unsupported if claim.kind in CHANGED_FIGURES]
    lines = [
        (f"quoted or computed, {label}", [c for c in claims if c.label == label], CERTAIN, "≤ 2 %")
        for label in ("contradicted", "not_stated")
    ]
    foreign = [claim for claim in unsupported if claim.lang not in ("en", "-")]
    lines += [
        ("quoted or computed, not English, unsupported", foreign, CERTAIN, "≤ 2 %"),
        ("quoted or computed, verbatim", [c for c in supported if c.kind == "verbatim"], CERTAIN, "≥ 95 %"),
        ("vetoed, changed numbers and dates", figures, ALARMS[0], "≥ 85 %"),
        ("vetoed, supported", supported, ALARMS[0], "≤ 3 %"),
    ]
    for kind in sorted(CHANGED_WORDS):
        changed = [claim for claim in unsupported if claim.kind == kind]
        lines.append((f"vetoed or doubted, {kind}", changed, ALARMS[1], "≥ 75 %"))
    lines.append(("vetoed or doubted, supported", supported, ALARMS[1], "≤ 25 %"))
    print(f"\n{'goal':46} {'is':>7}  {'of':>11}  to reach")
    for text, group, verdicts, goal in lines:
        hits = sum(claim.verdict in verdicts for claim in group)
        print(f"{text:46} {100 * share(group, verdicts):6.1f}%  {f'{hits}/{len(group)}':>11}  {goal}")
    left = [claim for claim in claims if claim.verdict in OPEN]
    wrong = sum(not claim.is_supported for claim in left)
    print(f"\nleft for the judge: {len(left)} of {len(claims)}, {wrong} of them unsupported")


def trace_curve(claims: Sequence[Checked]) -> list[tuple[float, float]]:
    """(false alarm, catch) as more is counted as an alarm; from (0, 0) to (1, 1)."""
    every = {claim.verdict for claim in claims}
    steps: list[set[str]] = [set(), *ALARMS, every - CERTAIN, every]
    sides = [c for c in claims if c.is_supported], [c for c in claims if not c.is_supported]
    return [(share(sides[0], verdicts), share(sides[1], verdicts)) for verdicts in steps]


def draw_curves(claims: Sequence[Checked]) -> str:
    """The curve of all claims and of each source with both kinds, as an SVG of small panels."""
    panels = {"all": list(claims)}
    for source in sorted({claim.source for claim in claims}):
        inside = [claim for claim in claims if claim.source == source]
        if len({claim.is_supported for claim in inside}) == 2:
            panels[source] = inside
    rows = -(-len(panels) // COLUMNS)
    width, height = COLUMNS * (PANEL + EDGE) + EDGE, rows * (PANEL + 2 * EDGE) + EDGE
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="sans-serif" font-size="11">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="{EDGE}" y="20">share of unsupported claims caught (up) against supported claims caught '
        "with them (right): vetoes, doubts, all that is not quoted</text>",
    ]
    for n, (name, inside) in enumerate(panels.items()):
        left = EDGE + n % COLUMNS * (PANEL + EDGE)
        parts += _draw_panel(name, inside, left, 2 * EDGE + n // COLUMNS * (PANEL + 2 * EDGE))
    return "\n".join([*parts, "</svg>"])


def _draw_panel(name: str, claims: Sequence[Checked], left: int, top: int) -> list[str]:
    points = [(left + PANEL * x, top + PANEL * (1 - y)) for x, y in trace_curve(claims)]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    supported = sum(claim.is_supported for claim in claims)
    return [
        f'<rect x="{left}" y="{top}" width="{PANEL}" height="{PANEL}" fill="none" stroke="#999"/>',
        f'<line x1="{left}" y1="{top + PANEL}" x2="{left + PANEL}" y2="{top}" stroke="#ccc"/>',
        f'<polyline points="{line}" fill="none" stroke="#14695b" stroke-width="2"/>',
        *(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="#14695b"/>' for x, y in points[1:-1]),
        f'<text x="{left}" y="{top - 6}">{escape(name)} ({supported}/{len(claims) - supported})</text>',
        f'<text x="{left}" y="{top + PANEL + 13}">0</text>',
        f'<text x="{left + PANEL}" y="{top + PANEL + 13}" text-anchor="end">100 %</text>',
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables and draw the curve; returns the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", metavar="FILE_WITH_LABELS", nargs="?")
    parser.add_argument("results", metavar="RESULTS", nargs="?")
    parser.add_argument("--model", default="keyless")
    parser.add_argument("--svg", metavar="FILE")
    given = parser.parse_args(arguments)
    if not given.file:
        print("nothing is measured without a FILE_WITH_LABELS; --help tells its form")
        return 0
    results = read_rows(given.results) if given.results else run_check(given.file, given.model)
    claims = join_verdicts(read_rows(given.file), results)
    for title in ("source", "kind", "lang"):
        print_table(claims, title, lambda claim, title=title: str(getattr(claim, title)))
    print_goals(claims)
    if given.svg:
        Path(given.svg).write_text(draw_curves(claims), encoding="utf-8")
        print(f"drew {given.svg}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
