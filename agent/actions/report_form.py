"""The form of a report, set by a person: another length or outline, without new research."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, cast

from pydantic import Field

from agent.actions.commit import GO_ON, PersonStep
from agent.answering.draft import MAX_HEADING_WORDS
from agent.answering.write_report import LENGTH_EDITS
from agent.engine.run_state import RunState
from agent.engine.snapshots import RunSnapshot
from agent.engine.state import Change
from agent.errors import UsageError
from agent.evidence.citation_check import state_with_subject
from agent.flows import FLOWS
from agent.flows.research.report_frame import clean_heading
from agent.flows.research.report_steps import choose_report_facts
from agent.text.plurals import clip
from agent.types import Edit, Fact, Outline, OutlineSection, ReportLength, SectionForm

NOT_USED = "Not used"
"""The line above the facts that no section has."""
MAX_FACT_CHARS = 160
"""Characters of a fact's line: enough to know it by."""
_OUTLINE_LINE = re.compile(
    r"(?:(?P<number>\d{1,2})[.)]\s*)?(?P<heading>.*?)\s*(?:\((?P<form>prose|list|table)\))?", re.IGNORECASE
)


def rewrite(
    view: RunSnapshot, length: Annotated[ReportLength, Field(description="how long the answer is")]
) -> PersonStep:
    """Write the answer again as brief, standard or full; nothing is searched."""
    settings = view.run.settings.replace(report=length)
    change = {"settings": settings, "edits": [Edit(step=view.head + 1, text=LENGTH_EDITS[length])]}
    columns = {**GO_ON, "settings": settings.model_dump_json()}
    return PersonStep(change, FLOWS[settings.flow].write_up_step, columns)


def use_outline(
    view: RunSnapshot, outline: Annotated[Outline, Field(description="sections with their facts")]
) -> PersonStep:
    """Write the report by this outline: the one shown, or as a person changed it. A written report is written
    again."""
    if not outline.sections:
        raise UsageError("the outline has no section left: keep one, or ask for another length")
    for section in outline.sections:
        if not clean_heading(section.heading):
            raise UsageError("a section has no heading: name it, or leave the section out")
        if not any(i in view.state.facts for i in section.fact_ids):
            raise UsageError(
                f"the section “{section.heading}” has no facts: move some below it, or leave it out"
            )
    is_waiting = view.next == "check_outline"
    change: Change = {}
    if view.state.own.outline != outline:
        change = {"outline": outline.replace(by="person", step=view.head + 1)}
        change |= {} if is_waiting else {"edits": [Edit(step=view.head + 1, text="changed the outline")]}
    return PersonStep(change, "sections", GO_ON)


def list_outline_facts(state: RunState) -> list[Fact]:
    """The facts that the sections of the outline may have: those they have, in order, then those left out."""
    planned = [i for section in state.own.outline.sections for i in section.fact_ids]
    left = [fact.id for fact in choose_report_facts(state)]
    return [state.facts[i] for i in dict.fromkeys([*planned, *left]) if i in state.facts]


def write_outline_text(outline: Outline, facts: Sequence[Fact]) -> str:
    """An outline as lines that a person can edit: the title, then a numbered line for each section, below it
    its facts, and last the facts that no section has."""
    names = dict[str, str]()
    for n, fact in enumerate(facts, start=1):
        text = " ".join(state_with_subject(fact).split())
        cut = text if len(text) <= MAX_FACT_CHARS else f"{text[: MAX_FACT_CHARS - 1].rstrip()}…"
        names[fact.id] = f"    f{n} {cut}"
    lines = [f"# {outline.title}"]
    for n, section in enumerate(outline.sections, start=1):
        lines.append(f"{n}. {section.heading} ({section.form})")
        lines += [names[i] for i in section.fact_ids if i in names]
    used = {i for section in outline.sections for i in section.fact_ids}
    left = [line for i, line in names.items() if i not in used]
    return "\n".join([*lines, *([f"{NOT_USED}:", *left] if left else [])])


def read_outline_text(text: str, outline: Outline, facts: Sequence[Fact]) -> Outline:
    """The outline that edited lines mean, in their order: a section has the facts below it, its number names
    the section of `outline` that it was, one without a known number is new. A fact may stand in several.
    Raises UsageError for a fact that is unknown or above all sections, and for a line that is no heading."""
    title, made, is_used = outline.title, list[OutlineSection](), True
    known = {f"f{n}": fact for n, fact in enumerate(facts, start=1)}
    formers = dict(enumerate(outline.sections, start=1))
    for line in filter(None, map(str.strip, text.splitlines())):
        if line.startswith("#"):
            title = clean_heading(line)
        elif found := re.match(r"[-•*]?\s*(f\d{1,3})\b", line, re.IGNORECASE):
            if (fact := known.get(found[1].lower())) is None:
                raise UsageError(f"there is no fact {found[1]}: name one of those that are listed")
            if is_used and not made:
                raise UsageError(f"{found[1]} stands above the first section: move it below one")
            if is_used:
                made[-1] = made[-1].replace(fact_ids=[*dict.fromkeys([*made[-1].fact_ids, fact.id])])
        elif is_used := line.rstrip(":").lower() != NOT_USED.lower():
            read = _OUTLINE_LINE.fullmatch(line)
            if not read or len(line.split()) > MAX_HEADING_WORDS:
                raise UsageError(
                    f"“{clip(line)}…” is no heading: begin the line of a fact with its number, like f3"
                )
            former = formers.get(int(read["number"] or 0), OutlineSection(heading=""))
            form = cast(SectionForm, (read["form"] or former.form).lower())
            made.append(former.replace(heading=clean_heading(read["heading"]), form=form, fact_ids=[]))
    return outline.replace(title=title, sections=made)
