"""What a guest sees of a shared run: one HTML document of the run as it is now, without private notes.
Nothing in it leads back into the workbench of its owner."""

from __future__ import annotations

from dataclasses import dataclass, replace

from agent.actions.context import ActionContext
from agent.actions.export import build_report
from agent.errors import NotFound
from agent.export.webpage import render_html


@dataclass(frozen=True)
class SharedRun:
    """A run as its guests see it: the question, and the whole report as one HTML document."""

    question: str
    document: str


def render_shared_run(bench: ActionContext, run_id: str) -> SharedRun:
    """The run for its guests. Raises NotFound, also for a run in the bin."""
    report = build_report(bench, run_id)
    if run_id in {run.id for run in bench.store.ledger.list(deleted=True)}:
        raise NotFound("there is no such shared run")
    private = {note.step for note in report.notes if note.private}
    public = replace(
        report,
        notes=[note for note in report.notes if note.step not in private],
        readings=[reading for reading in report.readings if reading.note not in private],
    )
    return SharedRun(report.run.question, render_html(public))
