"""`runs`: list the runs, newest first."""

from __future__ import annotations

from typing import Annotated

import typer

from agent.cli.output import write_stderr, write_stdout
from agent.workbench import Workbench


def run(*, text: Annotated[str, typer.Option(help="only those with this text in the question")] = "") -> int:
    """Print a line a run; returns the exit code."""
    runs = Workbench().runs(text=text)
    for one in runs:
        level = f"{one.confidence:.2f}" if one.confidence is not None else "  – "
        state = f"{one.status.value:<8} {one.verdict or '-':<14} {level}"
        question = f"{'(imported) ' if one.imported else ''}{one.question[:100]}"
        write_stdout(f"{one.id}  {one.created_at[:16]}  {state}  {question}")
    if not runs:
        write_stderr('no runs yet: ./touchstone research "QUESTION" makes one')
    return 0
