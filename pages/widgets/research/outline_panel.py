"""The outline of a full report: to be checked before its sections are written, edited after, and how far the
writing is."""

from __future__ import annotations

from functools import partial

import streamlit as st

from agent.actions import report_form
from agent.text.plurals import format_count
from agent.types import Outline, Status
from agent.workbench import RunSnapshot
from pages.widgets.shell import client, drafts, escape, ui

HINT = (
    "One line a section, with its number: reword, reorder or delete lines. The form is (prose), (list) or "
    "(table); the first line is the title."
)


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
        st.html(render_progress(view, outline))


def draw_rewrite(view: RunSnapshot) -> None:
    """The outline of a report that is written, folded."""
    outline, rests = view.state.own.outline, (Status.REVIEW, Status.DONE)
    if outline and view.run.status in rests and view.state.answers[-1].length == "full":
        with st.expander("Outline", icon=":material/toc:", key="research-outline-written"):
            _draw_editor(view, outline, "Write it again by this outline")


def _draw_editor(view: RunSnapshot, outline: Outline, label: str) -> None:
    """The outline as lines to edit, its facts folded below. What is typed survives a refresh."""
    draft = f"outline:{view.run.id}:{len(view.state.answers)}"
    lines = report_form.write_outline_text(outline)
    drafts.text_area("Sections", draft, given=lines, height=60 + 26 * (len(outline.sections) + 1))
    st.caption(escape.md(HINT))
    st.html(render_facts(view, outline))
    write = partial(_write, view, outline, draft)
    ui.button(label, "research-outline-write", write, icon="edit_note", type="primary")


def _write(view: RunSnapshot, outline: Outline, draft: str) -> None:
    text = drafts.read(draft) or report_form.write_outline_text(outline)

    def use(run_id: str, head: int) -> None:
        changed = report_form.read_outline_text(text, outline)
        report_form.use_outline(client.workbench(), run_id, head, changed)

    client.submit(use, view.run.id, view.head, then=lambda _: drafts.clear(draft))


def render_facts(view: RunSnapshot, outline: Outline) -> str:
    """What each section will be written from, folded, as HTML."""
    items = "".join(
        f"<details><summary>{n}. {escape.html(section.heading)} "
        f'<span class="soft">{format_count(len(section.fact_ids), "fact")}</span></summary><ul>'
        + "".join(
            f"<li>{escape.html(view.state.facts[i].statement)}</li>"
            for i in section.fact_ids
            if i in view.state.facts
        )
        + "</ul></details>"
        for n, section in enumerate(outline.sections, start=1)
    )
    return f'<div class="ts small">{items}</div>'


def render_progress(view: RunSnapshot, outline: Outline) -> str:
    """How many sections are written, as HTML; the calls of the step under way are counted."""
    total = len(outline.sections)
    done = client.workbench().store.calls.sum_usage(view.run.id, view.head).llm_calls
    text = f"{min(done, total)} of {format_count(total, 'section')} written"
    if done >= total:
        text = "All sections are written; their sentences are checked against the quotes"
    share = min(done, total) / total if total else 1.0
    return (
        f'<div class="ts small" role="status" aria-live="polite">{text}'
        f'<div class="meter"><i style="width:{share:.0%}"></i></div></div>'
    )
