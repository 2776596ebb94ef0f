"""Run the cases of the scorecard, print it, and write the page that publishes it.

    python -m bench.trust [CASE ...] [--corpora FOLDER] [--quick] [--json FILE]

Without a name all cases are run, one after the other, each in a process of its own. `--corpora` names the folder
of public corpora (by default one beside the checkout; without it the cases that need one say so). `--quick` runs
the short forms that belong on every change and writes nothing but `--json`. Exit code 1 when a case is missed."""

from __future__ import annotations

import argparse
import importlib
import os
import shlex
import sys
from pathlib import Path

from bench.trust import scorecard

FOLDER = Path(__file__).parent
PAGE = scorecard.ROOT / "docs" / "trust.md"
KEPT = scorecard.ROOT / "docs" / "trust.json"


def load_cases() -> None:
    """Register the cases of this folder: of every module, and of the list of those that the tests measure."""
    for path in sorted(FOLDER.glob("cases_*.py")):
        importlib.import_module(f"bench.trust.{path.stem}")
    for line in (FOLDER / "tested.txt").read_text(encoding="utf-8").splitlines()[1:]:
        name, title, limit, tests = line.split(" | ")
        if name not in scorecard.CASES:
            scorecard.case(name, title, limit)(lambda bench, given=tests: bench.tests(*shlex.split(given)))


def main(arguments: list[str]) -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.trust",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="CASE")
    parser.add_argument("--corpora", type=Path, default=scorecard.find_corpora())
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    load_cases()
    if unknown := [name for name in options.names if name not in scorecard.CASES]:
        parser.error(f"there is no case {', '.join(unknown)}; there are {', '.join(scorecard.CASES)}")
    bench = scorecard.Bench(options.corpora, options.quick)
    if options.inside:
        [name] = options.names
        scorecard.merge_results(options.json, {name: scorecard.run_here(scorecard.CASES[name], bench)})
        sys.stdout.flush()
        os._exit(0)  # a thread that a case left behind must not keep the process
    chosen = options.names or [n for n, one in scorecard.CASES.items() if one.is_quick or not bench.quick]
    kept = options.json or (None if bench.quick else KEPT)
    done: dict[str, scorecard.Result] = {}
    for name in sorted(chosen, key=scorecard.order):
        done[name] = result = scorecard.run_apart(scorecard.CASES[name], bench)
        print(
            f"{name:6} {result.verdict.strip('*'):17} n {result.n:6,}  {result.seconds:6.1f} s  "
            f"{scorecard.CASES[name].title}: {result.measured} {result.note}",
            flush=True,
        )
        for miss in result.misses[:5]:
            print(f"         - {miss[:400]}", flush=True)
        if kept is not None:
            held = scorecard.merge_results(kept, {name: result})
            if kept == KEPT:
                scorecard.write_page(PAGE, held)
    missed = [name for name, result in done.items() if "missed" in result.verdict]
    print(f"{len(done)} cases, {len(missed)} missed{': ' if missed else ''}{', '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
