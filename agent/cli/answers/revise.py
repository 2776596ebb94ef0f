"""`revise`: send the answer of a run back with a note, or comment on one sentence or section of it.

Exit codes: 0 the run reached its review again (also when nothing changed), 1 it failed, 2 wrong usage."""

from __future__ import annotations

from typing import Annotated

import typer

from agent.answering.revision import write_numbered_lines
from agent.cli.options import OutputFiles, RunId
from agent.cli.output import check_network, drive_and_print, write_stderr, write_stdout
from agent.errors import ConcurrentChange, UsageError
from agent.evidence.citation_check import diff_answers
from agent.export.escaping import to_one_line
from agent.roles.note_requests import UNDERSTOOD_WORDS
from agent.text.plurals import format_count
from agent.types import Answer, Status
from agent.workbench import Workbench

MARKS = {"added": "+", "removed": "-", "reworded": "~", "resourced": "~"}


def run(
    run_id: RunId,
    note: Annotated[
        str,
        typer.Argument(
            metavar="[NOTE]",
            help="what to change; without it the sentences of the answer are listed with their ids. Without "
            f"a model these words are understood: {UNDERSTOOD_WORDS}",
        ),
    ] = "",
    *,
    on: Annotated[
        str, typer.Option("--on", metavar="ID", help="comment on this sentence (s3) or section (h2) alone")
    ] = "",
    private: Annotated[
        bool,
        typer.Option(
            "--private",
            help="nothing of the note leaves: no search, page, export or share; it starts no research",
        ),
    ] = False,
    files: OutputFiles,
) -> int:
    """Revise the answer and print it, and on stderr what changed; returns the exit code."""
    bench = Workbench()
    view = bench.snapshot(run_id)
    if view.state.answer is None:
        raise UsageError(f"run {run_id} has no answer yet")
    before: Answer = view.state.answer
    if not note.strip():
        write_stdout("\n".join(map(to_one_line, write_numbered_lines(before, {}))))
        return 0
    check_network(bench, view.run.settings.world, view.run.settings.flow)
    try:
        if view.run.status is Status.DONE:
            bench.reopen(run_id, view.head)
            write_stderr("the accepted answer is open for review again")
        head = bench.snapshot(run_id).head
        if on:
            bench.comment(run_id, head, on, note, private=private)
        else:
            bench.send_back(run_id, head, note, private=private)
    except ConcurrentChange as refused:
        raise UsageError(str(refused)) from refused
    code = drive_and_print(bench, run_id, files, after=head + 1)
    after = bench.snapshot(run_id).state.answer
    if code == 0 and after is not None:
        _write_changes(before, after)
    return code


def _write_changes(before: Answer, after: Answer) -> None:
    changes = diff_answers(before, after)
    for change in changes:
        if change.kind != "same":
            old, new = (to_one_line(said.text) if said else "" for said in (change.old, change.new))
            both = f"{old} → {new}" if change.kind == "reworded" else new or old
            write_stderr(f"{MARKS[change.kind]} {both}")
    same = sum(change.kind == "same" for change in changes)
    write_stderr(f"  {format_count(same, 'sentence')} unchanged")
