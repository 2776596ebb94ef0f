"""`fork`: continue from a step of a run in a new run, with the exit codes of `research`."""

from __future__ import annotations

from typing import Annotated

import typer

from agent.actions import forks
from agent.cli.options import BudgetOptions, OutputFiles, RunId
from agent.cli.output import drive_and_print, write_stderr
from agent.types import Status
from agent.workbench import Workbench


def run(
    run_id: RunId,
    step: Annotated[
        int,
        typer.Argument(
            metavar="STEP",
            help="the last step to keep, by its number in the ledger: the one before each line that a run "
            "prints, also in `export RUN --format json`; not the number of a card on the screen",
        ),
    ],
    *,
    note: Annotated[str, typer.Option(metavar="TEXT", help="a constraint for its next decision")] = "",
    private: Annotated[
        bool,
        typer.Option(
            "--private",
            help="nothing of the note leaves: no search, page, export or share; it starts no research",
        ),
    ] = False,
    model: Annotated[str | None, typer.Option(metavar="keyless|NAME", help="another model")] = None,
    budgets: BudgetOptions,
    files: OutputFiles,
) -> int:
    """Fork, drive the new run and print its answer; returns the exit code."""
    changed = budgets.settings | ({"model": model} if model else {})
    bench = Workbench()
    new = forks.fork_run(bench, run_id, step, note=note, private=private, at_cap="report", **changed)
    if bench.snapshot(new).run.status is Status.WAITING:
        write_stderr(f"run {new}")
        write_stderr(
            "a decision waits for approval, as in the original: open the run in the workbench, or name "
            "another "
            "--until"
        )
        return 0
    return drive_and_print(bench, new, files, after=step + 1)
