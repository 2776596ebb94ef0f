"""`erase-note`: erase a private note for good. Exit codes: 0 done, 2 wrong usage."""

from __future__ import annotations

from typing import Annotated

import typer

from agent.cli.options import RunId
from agent.cli.output import write_stderr, write_stdout
from agent.export.escaping import to_one_line
from agent.workbench import Workbench


def run(
    run_id: RunId,
    step: Annotated[
        int,
        typer.Argument(
            metavar="[STEP]",
            show_default=False,
            help="the step of the note; without it the private notes are listed",
        ),
    ] = -1,
) -> int:
    """List the private notes of a run, or erase one; returns the exit code."""
    bench = Workbench()
    if step < 0:
        for note in bench.snapshot(run_id).state.notes:
            if note.private:
                write_stdout(f"{note.step:>4}  {to_one_line(note.text)}")
        return 0
    bench.erase_note(run_id, step)
    write_stderr("the note is erased, with what was made from it; backups made before still hold it")
    return 0
