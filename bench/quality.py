"""Measures the rows of bench/quality.yaml, keeps each result with its day, its command and the last commit of
the product in bench/results, and writes docs/quality.md from what is kept.

    python -m bench.quality [ROW ...] [--data FILE_OR_FOLDER]    # without rows the quick ones
    python -m bench.quality --page                               # only the page"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from bench import ROOT

ROWS = ROOT / "bench" / "quality.yaml"
RESULTS = ROOT / "bench" / "results"
PAGE = ROOT / "docs" / "quality.md"
Row = dict[str, Any]


def read_rows() -> list[Row]:
    """All rows, in the order of the page."""
    rows: list[Row] = yaml.safe_load(ROWS.read_text(encoding="utf-8"))
    return rows


def measure(row: Row, data: str) -> bool:
    """Run the command of a row and keep its figures; whether it gave any."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "figures.json"
        module, *options = row["command"].replace("{data}", data).split()
        subprocess.run(
            [sys.executable, "-m", f"bench.{module}", *options, "--json", str(out)], cwd=ROOT, check=False
        )
        if not out.exists():
            return False
        figures = json.loads(out.read_text(encoding="utf-8"))
    figures.pop("questions", None)  # an evaluation has one row each
    figures.pop("world", None)  # where the data lies is nobody's business
    kept = {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "commit": _ask_git("log", "-1", "--format=%h", "--", "agent", "prompts"),
        "command": f"python -m bench.{row['command'].replace('{data}', 'DATA')}",
        "load": round(os.getloadavg()[1], 1),
        "figures": figures,
    }
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{row['name']}.json"
    path.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return True


def _ask_git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def flatten(figures: Any, name: str = "") -> dict[str, Any]:
    """Figures by the names a row uses: {"50": {"a b": 1}} is {"50_a_b": 1}; a list counts as its length."""
    if isinstance(figures, dict):
        found: dict[str, Any] = {}
        for key, value in figures.items():
            found |= flatten(value, "_".join(filter(None, (name, re.sub(r"\W", "_", key)))))
        return found
    return {name: len(figures) if isinstance(figures, list) else figures}


def render_page() -> str:
    """docs/quality.md, from what is kept."""
    lines = [
        "# Quality, measured",
        "",
        "Each figure was written by the command beside it, at the commit and on the day that are named; the files are in "
        'the folder `results` of `bench`. `make quality` measures the quick rows anew, `make quality ROWS="quotes kills"` others. Seconds were taken on two '
        'cores; "load" is how many processes wanted them. Where a row needs data that is not in the repository, `make quality ROWS=claims DATA=FILE` takes it. '
        "What is promised against attacks, faults and load: [trust](trust.md).",
        "",
        "| row | what | measured | with | when |",
        "|---|---|---|---|---|",
    ]
    for row in read_rows():
        path = RESULTS / f"{row['name']}.json"
        command = f"`python -m bench.{row['command'].replace('{data}', 'DATA')}`"
        measured, when = "not measured yet", ""
        if path.exists():
            kept = json.loads(path.read_text(encoding="utf-8"))
            try:
                measured = row["measured"].format_map(flatten(kept["figures"]))
            except KeyError as absent:
                measured = f"to be measured anew: the figures of then lack {absent}"
            when = f"{kept['date']}, {kept['commit']}, load {kept['load']:.0f}"
        lines.append(f"| {row['name']} | {row['what']} | {measured} | {command} | {when} |")
    lines += ["", "## Data that is not here", ""]
    lines += [f"- **{row['name']}**: {row['data']}." for row in read_rows() if row.get("data")]
    lines += [
        "",
        "The sets are public and have licences of their own; they are for measuring only, so nothing of them is copied into the project.",
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Measure what is asked for, and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    rows = {row["name"]: row for row in read_rows()}
    parser.add_argument("names", nargs="*", metavar="ROW", help=f"of {', '.join(rows)}")
    parser.add_argument("--data", default="", help="the file or folder for a row whose data is not here")
    parser.add_argument("--page", action="store_true", help="measure nothing, write the page")
    asked = parser.parse_args()
    if unknown := [name for name in asked.names if name not in rows]:
        parser.error(f"there is no row {', '.join(unknown)}; there are {', '.join(rows)}")
    chosen = asked.names or [name for name, row in rows.items() if row.get("quick") and not asked.page]
    failed = []
    for name in chosen:
        if rows[name].get("data") and not asked.data:
            parser.error(
                f"the row {name} needs data that is not here: {rows[name]['data']}. Give it with DATA="
            )
        print(f"== {name}", flush=True)
        failed += [] if measure(rows[name], asked.data) else [name]
    PAGE.write_text(render_page(), encoding="utf-8")
    if failed:
        print(f"without figures: {', '.join(failed)}", file=sys.stderr)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
