"""`plan`: show the plan of a run, or change it.

Exit codes: 0 shown, or recorded and the run went on by it; 1 it failed then; 2 wrong usage."""

from __future__ import annotations

from typing import Annotated

import typer

from agent.actions.plan_edits import PartEdit, edit_plan
from agent.answering.plan import PartView, view_plan
from agent.cli.options import AsJson, RunId
from agent.cli.output import check_network, finish_edit, write_json, write_stderr, write_stdout
from agent.errors import UsageError
from agent.export.escaping import to_one_line
from agent.text.plurals import format_count, format_percent
from agent.types import PlanPart, Status
from agent.workbench import Workbench

STATUS_WORDS = {
    "open": "open",
    "answered": "answered",
    "found": "passages found",
    "disputed": "disputed",
    "not_found": "no passage found",
}


def run(
    run_id: RunId,
    *,
    add: Annotated[
        list[str] | None, typer.Option(metavar="QUESTION …", help="add these parts at the end")
    ] = None,
    drop: Annotated[list[str] | None, typer.Option(metavar="PART …", help="drop these parts")] = None,
    reword: Annotated[
        tuple[str, str] | None, typer.Option(metavar="PART QUESTION", help="ask a part in other words")
    ] = None,
    order: Annotated[
        list[str] | None, typer.Option(metavar="PART …", help="these parts first, in this order")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Show the plan, or change it in one step; returns the exit code. Raises UsageError."""
    bench = Workbench()
    view = bench.snapshot(run_id)
    if add or drop or reword or order:
        edits = _apply(view.state.plan, add or [], drop or [], reword, order or [])
        check_network(bench, view.run.settings.world, view.run.settings.flow)
        edit_plan(bench, run_id, edits, view.head)
        write_stderr(bench.snapshot(run_id).state.edits[-1].text)
        view = finish_edit(bench, run_id)
        if view.run.status is Status.FAILED:
            write_stderr(f"touchstone: the plan was changed, but the run failed: {view.run.error}")
            return 1
    parts = view_plan(view.state)
    if as_json:
        write_json([{**part.part.model_dump(mode="json"), "facts": part.facts} for part in parts])
    else:
        write_stdout("\n".join(format_part(part) for part in parts))
    return 0


def format_part(view: PartView) -> str:
    """A part on one line: its id, status, facts, confidence and question."""
    part = view.part
    figures = f"{STATUS_WORDS[part.status]}, {format_count(view.facts, 'fact')}"
    sure = f", {format_percent(part.confidence)}" if part.confidence else ""
    after = f"  (after {', '.join(part.after)})" if part.after else ""
    return f"{part.id}  [{figures}{sure}]  {to_one_line(part.question)}{after}"


def _apply(
    plan: list[PlanPart], add: list[str], drop: list[str], reword: tuple[str, str] | None, order: list[str]
) -> list[PartEdit]:
    known = {part.id: part.question for part in plan}
    named = [*drop, *order, *([reword[0]] if reword else [])]
    if unknown := next((id for id in named if id not in known), ""):
        raise UsageError(f"the plan has no part {unknown}: it has {', '.join(known)}")
    if reword:
        known[reword[0]] = reword[1]
    ids = [*dict.fromkeys(order), *(id for id in known if id not in order)]
    return [*(PartEdit(known[id], id) for id in ids if id not in drop), *(PartEdit(text) for text in add)]
