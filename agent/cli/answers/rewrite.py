"""`rewrite`: have the answer of a run written in another length, from what was found.

Exit codes: 0 rewritten, 1 rewriting failed, 2 wrong usage, no such run or no answer yet."""

from __future__ import annotations

from typing import cast

from agent.actions import report_form
from agent.cli.options import OutputFiles, ReportOption, RunId
from agent.cli.output import drive_and_print
from agent.errors import ConcurrentChange, UsageError
from agent.types import ReportLength
from agent.workbench import Workbench


def run(run_id: RunId, *, report: ReportOption, files: OutputFiles) -> int:
    """Write the answer again and print it; returns the exit code."""
    bench = Workbench()
    try:
        report_form.rewrite(bench, run_id, cast(ReportLength, report))
    except ConcurrentChange as refused:
        raise UsageError(str(refused)) from refused
    return drive_and_print(bench, run_id, files, after=bench.snapshot(run_id).head)
