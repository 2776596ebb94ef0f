"""What a guest sees of a shared run: its answer as one HTML document, as it is now and as it may leave.
Nothing in it leads back into the workbench of its owner."""

from __future__ import annotations

from dataclasses import dataclass

from agent.actions.context import ActionContext
from agent.actions.export import build_report
from agent.errors import NotFound
from agent.export.webpage import render_html


@dataclass(frozen=True)
class SharedRun:
    """A run as its guests see it: the question, and the answer as one HTML document."""

    question: str
    document: str


def render_shared_run(bench: ActionContext, run_id: str) -> SharedRun:
    """The run for its guests. Raises NotFound, also for a run in the bin."""
    report = build_report(bench, run_id)
    if bench.store.ledger.is_deleted(run_id):
        raise NotFound("there is no such shared run")
    return SharedRun(report.run.question, render_html(report.to_read))
