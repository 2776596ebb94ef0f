"""`settle`: resolve a conflict, or search for what would resolve it.

Exit code 0: recorded, an answer rewritten; 2: wrong usage, no such run or conflict."""

from __future__ import annotations

from typing import Annotated

import typer

from agent.actions import conflict_rulings
from agent.actions.conflict_rulings import Ruling
from agent.cli.options import RunId, require_one
from agent.cli.output import finish_edit, write_stderr, write_stdout
from agent.errors import UsageError
from agent.types import Status
from agent.workbench import Workbench


def run(
    run_id: RunId,
    conflict: Annotated[
        str,
        typer.Argument(metavar="CONFLICT", help="its id, or the beginning of it; `conflicts RUN` lists them"),
    ],
    *,
    take: Annotated[str | None, typer.Option(metavar="VALUE", help="this value is right")] = None,
    both: Annotated[bool, typer.Option("--both", help="both are right")] = False,
    neither: Annotated[bool, typer.Option("--neither", help="neither is right")] = False,
    reopen: Annotated[bool, typer.Option("--reopen", help="open it again")] = False,
    look: Annotated[str | None, typer.Option(metavar="QUERY", help="search for this, to resolve it")] = None,
    because: Annotated[str, typer.Option(metavar="REASON", help="the reason; the answer states it")] = "",
) -> int:
    """Record the ruling or the search and print the answer; returns the exit code."""
    require_one(take=take, both=both, neither=neither, reopen=reopen, look=look)
    bench = Workbench()
    if look is not None:
        if not look.strip():
            raise UsageError("--look needs the words to search for")
        conflict_rulings.request_search(bench, run_id, conflict, look)
    else:
        ruling: Ruling = "both" if both else "neither" if neither else "open" if reopen else "take"
        conflict_rulings.resolve_conflict(bench, run_id, conflict, ruling, value=take or "", because=because)
    view = finish_edit(bench, run_id)
    if view.run.error:
        write_stderr(view.run.error)
    write_stdout(view.state.answer.text if view.state.answer else "There is no answer yet.")
    return 1 if view.run.status is Status.FAILED else 0
