"""`unread`: list what a run could not read, and what helps."""

from __future__ import annotations

from agent.actions import page_input
from agent.cli.options import RunId
from agent.cli.output import write_stderr, write_stdout
from agent.export.escaping import to_one_line
from agent.workbench import Workbench


def run(run_id: RunId) -> int:
    """Print each failed request with its reason and advice; returns the exit code."""
    found = page_input.list_failed_requests(Workbench().snapshot(run_id).state)
    for one in found:
        write_stdout(f"{one.outcome.value:<12} {one.kind.lower()} {to_one_line(one.what)}")
        write_stdout(f"{'':<12} {to_one_line(one.reason)}\n{'':<12} {one.advice}")
    if not found:
        write_stderr("everything the run asked for could be read")
    return 0
