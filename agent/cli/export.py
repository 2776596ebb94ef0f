"""`export`: write a run to a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agent.actions.bundle_verify import verify_bundle
from agent.actions.export import FORMATS, export_run
from agent.cli.options import RunId, choose_from
from agent.cli.output import write_file, write_stderr, write_stdout
from agent.errors import UsageError
from agent.workbench import Workbench


def run(
    run_id: RunId,
    *,
    format: Annotated[
        str, typer.Option(metavar="FORMAT", help=f"one of {', '.join(FORMATS)}", **choose_from(FORMATS))
    ] = "md",
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="where to write it", show_default="stdout")
    ] = None,
) -> int:
    """Write the run in a format; returns the exit code."""
    if FORMATS[format].binary and not output:
        raise UsageError(f"{format} is not text: name a file with --output FILE")
    body = export_run(Workbench(), run_id, format)
    if not output:
        write_stdout(body.decode("utf-8-sig"), end="")
        return 0
    write_file(output, body)
    if format == "bundle":
        write_stderr(f"SHA-256 {verify_bundle(body).sha256}")
    return 0
