"""`fork` and `compare`: go on from a step of a run in a new one, and lay two runs side by side. Knows options
and wording.

`fork` drives the new run like `research` does, with the same exit codes; `compare` exits with 0."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from agent.actions import forks, run_diff
from agent.actions.budget import format_amount
from agent.actions.run_diff import ListDiff, RunComparison
from agent.cli import budget_options
from agent.cli.output import StepFormatter, drive_run, write_stderr, write_stdout
from agent.types import Status
from agent.workbench import Workbench

CHANGE_MARKS = {"added": "+", "removed": "-", "reworded": "~", "resourced": "~", "same": " "}


def add_fork_options(parser: argparse.ArgumentParser, line: StepFormatter) -> None:
    """The options of `fork`; `line` tells a step."""
    parser.add_argument("run", metavar="RUN")
    parser.add_argument(
        "step", type=int, metavar="STEP", help="the last step to keep; `export RUN --format json` lists them"
    )
    parser.add_argument(
        "--note", default="", metavar="TEXT", help="a constraint that its next decision heeds"
    )
    parser.add_argument("--model", metavar="keyless|NAME", help="another model")
    budget_options.add_options(parser, plain=False)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the whole run as JSON")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the report as Markdown")
    parser.set_defaults(line=line)


def run_fork(options: argparse.Namespace) -> int:
    """Go on from a step; returns the exit code."""
    changed = budget_options.chosen_settings(options) | ({"model": options.model} if options.model else {})
    bench = Workbench()
    new = forks.fork_run(bench, options.run, options.step, note=options.note, at_cap="report", **changed)
    if bench.snapshot(new).run.status is Status.WAITING:
        write_stderr(f"run {new}")
        write_stderr(
            "a decision waits for a person, as it did there: open the run in the workbench, or name another --until"
        )
        return 0
    return drive_run(bench, new, options, options.line, after=options.step + 1)


def add_compare_options(parser: argparse.ArgumentParser) -> None:
    """The options of `compare`."""
    parser.add_argument("one", metavar="RUN1")
    parser.add_argument("two", metavar="RUN2")
    parser.add_argument("--json", action="store_true", help="tell the comparison as JSON")


def run_compare(options: argparse.Namespace) -> int:
    """Lay two runs side by side; returns the exit code."""
    found = run_diff.compare_runs(Workbench(), options.one, options.two)
    if options.json:
        write_stdout(json.dumps(run_diff.build_record(found), ensure_ascii=False, indent=1))
    else:
        for row in format_comparison(found):
            write_stdout(row)
    return 0


def format_comparison(found: RunComparison) -> list[str]:
    """The comparison for a person."""
    one, two = found.one, found.two
    told = [
        f"1  {one.run}  {one.status}  {one.verdict or '-'}  {one.question}",
        f"2  {two.run}  {two.status}  {two.verdict or '-'}  {two.question}",
    ]
    told.append(
        f"the first {found.shared} steps are the same" if found.shared else "they have no step in common"
    )
    told += [f"{name}: {a} | {b}" for name, (a, b) in found.settings.items()]
    told += [f"note to {n}: {note}" for n, side in ((1, one), (2, two)) for note in side.notes]
    told += ["", "answer"] + [f"{CHANGE_MARKS[said.kind]} {said.two or said.one}" for said in found.answer]
    told += ["", _format_counts("facts", found.facts), *(f"- {fact.statement}" for fact in found.facts.one)]
    told += [f"+ {fact.statement}" for fact in found.facts.two]
    told += [f"~ {a.statement} ({_format_marks(a)} | {_format_marks(b)})" for a, b in found.differing_facts]
    told += [
        "",
        _format_counts("pages", found.sources),
        *(f"- {page.url}" for page in found.sources.one),
        *(f"+ {page.url}" for page in found.sources.two),
    ]
    told += ["", _format_counts("conflicts", found.conflicts), ""]
    for figure in found.figures:
        shown = [_format_figure(figure.name, value) for value in (figure.one, figure.two)]
        same = (
            f"   (of which {_format_figure(figure.name, figure.shared)} in the steps they share)"
            if figure.shared
            else ""
        )
        told.append(f"{figure.name:<11} {shown[0]:>16} {shown[1]:>16}{same}")
    return told


def _format_counts(name: str, lists: ListDiff) -> str:
    return (
        f"{name}: {len(lists.one)} only in 1 (-), {len(lists.two)} only in 2 (+), {len(lists.both)} in both"
    )


def _format_figure(name: str, value: float | None) -> str:
    if name == "confidence":
        return f"{value:.2f}" if value is not None else "-"
    return format_amount(name, value) if name in ("cost", "seconds") else f"{value:,.0f}"  # type: ignore[arg-type]


def _format_marks(fact: object) -> str:
    marks = [str(getattr(fact, "decision", "none"))] if getattr(fact, "decision", "none") != "none" else []
    return ", ".join([*marks, *(["disputed"] if getattr(fact, "disputed", False) else [])]) or "plain"
