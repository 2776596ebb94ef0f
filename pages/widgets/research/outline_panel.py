"""The outline of a full report: to be checked before its sections are written, edited after, and how far the
writing is."""

from __future__ import annotations

from typing import Any

import streamlit as st

from agent.actions import report_form
from agent.text.plurals import format_count
from agent.types import Outline, Status
from agent.workbench import RunSnapshot
from pages.widgets.shell import client, drafts, escape, places, ui

HINT = (
    "A section is a line with its number and its form, (prose), (list) or (table); its facts stand below it. "
    "Reword, move or delete lines. A new line is a new section: move facts below it."
)
MAX_HEIGHT = 560
"""Pixels of the editor; a longer outline scrolls in it."""


@places.in_place
def draw(view: RunSnapshot) -> None:
    """The outline where it waits for its person, or how many sections are written."""
    outline = view.state.own.outline
    if outline is None:
        return
    if view.run.status is Status.WAITING and view.next == "check_outline":
        with st.container(border=True, key="research-outline"):
            below = "Nothing is written yet. Each section is written from its facts alone."
            ui.heading("Outline of the report", f'<p class="small soft">{below}</p>')
            _draw_editor(view, outline, "Write the report")
    elif view.run.status is Status.RUNNING and view.next == "sections":
        total = len(outline.sections)
        done = client.workbench().store.calls.sum_usage(view.run.id, view.head).llm_calls  # of this step
        told = f"{done} of {format_count(total, 'section')} written"
        if done >= total:
            told = "All sections are written; their sentences are checked against the quotes"
        st.progress(min(done / total, 1.0) if total else 1.0, told)


@places.in_place
def draw_rewrite(view: RunSnapshot) -> None:
    """The outline of a report that is written, folded."""
    outline, rests = view.state.own.outline, (Status.REVIEW, Status.DONE)
    if outline and view.run.status in rests and view.state.answers[-1].length == "full":
        with st.expander("Outline", icon=":material/toc:", key="research-outline-written"):
            _draw_editor(view, outline, "Write it again by this outline")


def _draw_editor(view: RunSnapshot, outline: Outline, label: str) -> None:
    """The outline as lines to edit. What is typed survives a refresh."""
    draft = f"outline:{view.run.id}:{len(view.state.answers)}"
    facts = report_form.list_outline_facts(view.state)
    lines = report_form.write_outline_text(outline, facts)
    height = min(80 + 24 * len(lines.splitlines()), MAX_HEIGHT)
    drafts.text_area("Sections and their facts", draft, given=lines, height=height)
    st.caption(escape.md(HINT))

    def _use() -> None:
        changed = report_form.read_outline_text(drafts.read(draft) or lines, outline, facts)
        client.workbench().act(view.run.id, "use_outline", view.head, outline=changed)

    look: Any = {"kwargs": {"then": lambda _: drafts.clear(draft)}, "icon": "edit_note", "type": "primary"}
    ui.button(label, "research-outline-write", client.submit, _use, **look)
