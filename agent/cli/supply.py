"""`supply`: give a run a page it could not read."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from agent.actions import page_input
from agent.cli.options import OutputFiles, RunId, require_one
from agent.cli.output import drive_and_print, write_stderr
from agent.errors import UsageError
from agent.types import STATUS_PHRASES, Status
from agent.web.extract import documents
from agent.workbench import Workbench


def run(
    run_id: RunId,
    what: Annotated[
        str,
        typer.Argument(
            metavar="URL",
            help="the page it is for ('' for a file of no site), or a reference as `unread` names it; with "
            "--retry also the words of a search",
        ),
    ],
    *,
    file: Annotated[
        Path | None, typer.Option(metavar="FILE", help=f"the page as a file: {documents.FORMATS}")
    ] = None,
    text: Annotated[
        str | None, typer.Option(metavar="TEXT", help="the text of the page; - reads it from stdin")
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="fetch it once more")] = False,
    title: Annotated[str, typer.Option(help="the title of a pasted text")] = "",
) -> int:
    """Supply the page and drive the run where it continues by itself; returns the exit code."""
    require_one(file=file, text=text, retry=retry)
    bench = Workbench()
    if retry:
        page_input.retry(bench, run_id, what)
    elif file:
        if not file.is_file():
            raise UsageError(f"there is no file {file}")
        page_input.upload(bench, run_id, what, file.name, documents.read_bytes(file))
    else:
        pasted = sys.stdin.read(page_input.MAX_PASTED_CHARS + 1) if text == "-" else text or ""
        page_input.paste(bench, run_id, what, pasted, title)
    status = bench.snapshot(run_id).run.status
    if status is not Status.RUNNING:
        write_stderr(f"stored; the run is {STATUS_PHRASES[status]} and uses it when it continues")
        return 0
    return drive_and_print(bench, run_id, OutputFiles())
