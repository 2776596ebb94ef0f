"""What a person does to the form of a report: another length or outline, written from what is known, without
new research."""

from __future__ import annotations

import re
from typing import cast

from agent.actions.commit import ANSWERED_STATUSES, GO_ON, PersonStep, commit
from agent.actions.context import ActionContext
from agent.engine.snapshots import RunSnapshot
from agent.engine.state import Change
from agent.errors import UsageError
from agent.flows import FLOWS
from agent.flows.research.report_frame import clean_heading
from agent.flows.shared.write_report import LENGTH_EDITS
from agent.types import Edit, Outline, OutlineSection, ReportLength, SectionForm, Status

OUTLINE_EDIT = "changed the outline"
_OUTLINE_LINE = re.compile(
    r"(?P<number>\d{1,2})[.)]\s*(?P<heading>.*?)\s*(?:\((?P<form>prose|list|table)\))?", re.IGNORECASE
)


def rewrite(bench: ActionContext, run_id: str, length: ReportLength, head: int | None = None) -> None:
    """Write the answer of a run again as brief, standard or full; nothing is searched. Raises UsageError for
    another flow than research, and ConcurrentChange when there is no answer to review or the run moved since
    step `head`."""

    def build_step(view: RunSnapshot) -> PersonStep:
        settings = view.run.settings
        if settings.flow != "research":
            raise UsageError(f"a {settings.flow} answer has one length; reports are written by research runs")
        settings = settings.replace(report=length)
        change = {"settings": settings, "edits": [Edit(step=view.head + 1, text=LENGTH_EDITS[length])]}
        columns = {**GO_ON, "settings": settings.model_dump_json()}
        return PersonStep(change, FLOWS[settings.flow].write_up_step, columns)

    commit(bench, run_id, "rewrite", build_step, head=head, among=ANSWERED_STATUSES)


def use_outline(bench: ActionContext, run_id: str, head: int, outline: Outline) -> None:
    """Write the report by this outline: the one shown, or as a person changed it. A written report is written
    again. Raises UsageError when no section is left or one has no heading or facts, and ConcurrentChange when
    the run moved since step `head`."""
    if not outline.sections:
        raise UsageError("the outline has no section left: keep one, or ask for another length")
    for section in outline.sections:
        if not clean_heading(section.heading):
            raise UsageError("a section has no heading: name it, or leave the section out")

    def build_step(view: RunSnapshot) -> PersonStep:
        known = view.state.facts
        if empty := [s.heading for s in outline.sections if not any(i in known for i in s.fact_ids)]:
            raise UsageError(f"the section “{empty[0]}” has no facts: leave it out")
        is_waiting = view.next == "check_outline"
        if view.run.status is Status.WAITING and not is_waiting:
            raise UsageError("the run waits for another decision")
        change: Change = {}
        if view.state.own.outline != outline:
            change = {"outline": outline.replace(by="person", step=view.head + 1)}
            change |= {} if is_waiting else {"edits": [Edit(step=view.head + 1, text=OUTLINE_EDIT)]}
        return PersonStep(change, "sections", GO_ON)

    among = (Status.WAITING, *ANSWERED_STATUSES)
    commit(bench, run_id, "use_outline", build_step, head=head, among=among)


def write_outline_text(outline: Outline) -> str:
    """An outline as lines that a person can edit: the title, then a numbered line for each section."""
    lines = [f"{n}. {s.heading} ({s.form})" for n, s in enumerate(outline.sections, start=1)]
    return "\n".join([f"# {outline.title}", *lines])


def read_outline_text(text: str, outline: Outline) -> Outline:
    """The outline that edited lines mean: a number names the section of `outline` whose facts it has, the
    order is that of the lines. Raises UsageError for a line without such a number, or with one twice."""
    title, made, left = outline.title, list[OutlineSection](), dict(enumerate(outline.sections, start=1))
    for line in filter(None, map(str.strip, text.splitlines())):
        if line.startswith("#"):
            title = clean_heading(line)
            continue
        found = _OUTLINE_LINE.fullmatch(line)
        section = left.pop(int(found["number"]), None) if found else None
        if found is None or section is None:
            raise UsageError(
                f"“{line[:60]}” names no section: begin it with the section's number, each number once"
            )
        form = cast(SectionForm, (found["form"] or section.form).lower())
        made.append(section.replace(heading=clean_heading(found["heading"]), form=form))
    return outline.replace(title=title, sections=made)
