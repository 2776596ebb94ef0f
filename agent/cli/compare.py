"""`compare`: show how two runs differ."""

from __future__ import annotations

from typing import Annotated

import typer

from agent.actions import run_diff
from agent.actions.budget import format_amount
from agent.actions.run_diff import ComparedFigure, ListDiff, RunComparison
from agent.cli.edit import CHANGE_MARKS
from agent.cli.options import AsJson
from agent.cli.output import write_json, write_stdout
from agent.types import Fact
from agent.workbench import Workbench


def run(
    one: Annotated[str, typer.Argument(metavar="RUN1", help="id of the first run")],
    two: Annotated[str, typer.Argument(metavar="RUN2", help="id of the second run")],
    *,
    as_json: AsJson = False,
) -> int:
    """Print the comparison; returns the exit code."""
    if as_json:
        write_json(run_diff.build_record(Workbench(), one, two))
    else:
        write_stdout("\n".join(format_comparison(run_diff.compare_runs(Workbench(), one, two))))
    return 0


def format_comparison(found: RunComparison) -> list[str]:
    """The comparison for a person."""
    one, two = found.one, found.two
    shared = f"the first {found.shared} steps are the same" if found.shared else "they have no step in common"
    return [
        f"1  {one.run}  {one.status}  {one.verdict or '-'}  {one.question}",
        f"2  {two.run}  {two.status}  {two.verdict or '-'}  {two.question}",
        shared,
        *(f"{name}: {a} | {b}" for name, (a, b) in found.settings.items()),
        *(f"note to {n}: {note}" for n, side in ((1, one), (2, two)) for note in side.notes),
        "",
        "answer",
        *(f"{CHANGE_MARKS[change.kind]} {change.two or change.one}" for change in found.answer),
        "",
        _format_counts("facts", found.facts),
        *(f"- {fact.statement}" for fact in found.facts.one),
        *(f"+ {fact.statement}" for fact in found.facts.two),
        *(f"~ {a.statement} ({_format_marks(a)} | {_format_marks(b)})" for a, b in found.differing_facts),
        "",
        _format_counts("pages", found.sources),
        *(f"- {page.url}" for page in found.sources.one),
        *(f"+ {page.url}" for page in found.sources.two),
        "",
        _format_counts("conflicts", found.conflicts),
        "",
        *map(_format_figure, found.figures),
    ]


def _format_counts(name: str, lists: ListDiff) -> str:
    return (
        f"{name}: {len(lists.one)} only in 1 (-), {len(lists.two)} only in 2 (+), {len(lists.both)} in both"
    )


def _format_figure(figure: ComparedFigure) -> str:
    one, two = (_format_value(figure.name, value) for value in (figure.one, figure.two))
    shared = _format_value(figure.name, figure.shared) if figure.shared else ""
    return f"{figure.name:<11} {one:>16} {two:>16}" + (
        f"   (of which {shared} in shared steps)" if shared else ""
    )


def _format_value(name: str, value: float | None) -> str:
    if name == "confidence":
        return f"{value:.2f}" if value is not None else "-"
    return format_amount(name, value) if name in ("cost", "seconds") else f"{value:,.0f}"  # type: ignore[arg-type]


def _format_marks(fact: Fact) -> str:
    marks = ["flagged" * bool(fact.flagged), "disputed" * fact.disputed]
    return ", ".join(filter(None, [fact.decision.replace("none", ""), *marks])) or "plain"
