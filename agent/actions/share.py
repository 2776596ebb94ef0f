"""What a guest sees of a shared run: one HTML document of the run as it is now, without private notes.
Nothing in it leads back into the workbench of its owner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from agent.actions.context import ActionContext
from agent.actions.export import build_report
from agent.errors import NotFound
from agent.export.hiding import REDACTED
from agent.export.report import Report
from agent.export.webpage import render_html
from agent.text.private_words import find_private_words
from agent.types.record import Record

T = TypeVar("T", bound=Record)


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
    public = _leave_out_private(report, bench.snapshot(run_id).state.earlier_private_notes)
    return SharedRun(report.run.question, render_html(public))


def _leave_out_private(report: Report, earlier: Sequence[str]) -> Report:
    """The report without private notes, and with no text in it that gives their words away: a search that
    was refused for them, a reason, a remark. `earlier` are the private notes of earlier turns."""
    private = {note.step: note.text for note in report.notes if note.private}
    if not (private or earlier):
        return report
    notes = [note for note in report.notes if not note.private]
    known = [report.run.question, *(note.text for note in notes), *(fact.quote for fact in report.facts)]
    known += [f"{page.url} {page.title}" for page in report.pages]

    def hide(record: T, *names: str) -> T:
        texts = {name: str(getattr(record, name)) for name in names}
        secrets = [*earlier, *private.values()]
        told = [name for name, text in texts.items() if find_private_words(text, secrets, known)]
        return record.replace(**dict.fromkeys(told, REDACTED))

    told = ("title", "certainty", "missing", "remark", "journey", "why_stopped", "because")
    return replace(
        report,
        notes=notes,
        readings=[reading for reading in report.readings if reading.note not in private],
        answer=report.answer and hide(report.answer, *told),
        former_answers=[hide(answer, *told) for answer in report.former_answers],
        actions=[hide(action, "query_or_url", "detail", "reasoning") for action in report.actions],
        blockages=[hide(stall, "reason") for stall in report.blockages],
        edits=[hide(edit, "text") for edit in report.edits],
    )
