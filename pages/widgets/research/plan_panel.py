"""The plan of a research run: its parts with what is known of each, and a form to change them at any time."""

from __future__ import annotations

import hashlib
from typing import Any

import streamlit as st

from agent.answering.view import PartView, view_plan
from agent.flows.research.policy import CHECK_PLAN, describe_reading
from agent.text.plurals import format_count
from agent.text.question_analysis import format_question
from agent.types import Status
from agent.workbench import RunSnapshot
from pages.widgets.shell import badges, client, drafts, escape, labels, ui, view_cache

EDIT_POPOVER = "research-plan-edit"
HINT = "One part per line, in the order to work on. Change, add, move or delete lines."


def waits(view: RunSnapshot) -> bool:
    """Whether the plan waits for its person's word before the first search."""
    return view.next == CHECK_PLAN and view.run.status is Status.WAITING


def draw_tab(view: RunSnapshot) -> None:
    """The plan, unless it stands in the place of the answer."""
    if not waits(view):
        draw(view)


def draw(view: RunSnapshot) -> None:
    """The parts, each with its status, facts and confidence."""
    parts = view_cache.get_or_compute(view, "plan", lambda: view_plan(view.state))
    with st.container(border=True, key="research-plan"):
        items = "".join(f"<li>{_render_part(part)}</li>" for part in parts)
        head = '<h2 class="ts-section">Plan</h2>'
        st.html(f'<div class="ts plan">{head}<ol>{items}</ol></div>{_render_reading(view)}')
        if waits(view):
            _draw_approval(view)
        opened = ui.popover("Change the plan", EDIT_POPOVER, "checklist")
        if opened.open:
            with opened:
                _draw_form(view)


def _render_part(view: PartView) -> str:
    part, figures = view.part, [format_count(view.facts, "fact")]
    if part.confidence:
        figures.append(f"{labels.format_percent(part.confidence)} confidence")
    if view.waits_for:
        figures.append(f"needs part {', '.join(view.waits_for)} first")
    named = (("Answered by", part.answered_by), ("Where", part.where))
    hints = " · ".join(f"{name}: {escape.html(text)}" for name, text in named if text)
    below = f'<div class="small soft">{hints}</div>' if hints else ""
    said = f"<span>{escape.html(format_question(part.question))}</span>"
    mark = badges.render(*labels.PART_STATUS[part.status])
    told = f'<span class="small soft">{" · ".join(figures)}</span>'
    return f'<div class="part">{said} {mark}{told}</div>{below}'


def _render_reading(view: RunSnapshot) -> str:
    """How an ambiguous question was read, and why a model did not plan."""
    trouble = view.state.own.plan_trouble
    lines = [describe_reading(view.state), f"Without the model: {trouble}" if trouble else ""]
    return "".join(f'<div class="ts small soft">{escape.html(line)}</div>' for line in lines if line)


def _draw_approval(view: RunSnapshot) -> None:
    """Approve the plan; where the question can mean different things, say first which is meant."""
    own, key = view.state.own, f"research-reading-{view.run.id}"
    reading = (st.radio(own.ambiguity, own.meanings, key=key) if own.meanings else "") or ""
    look: Any = {"icon": "check", "type": "primary", "given": {"reading": reading}}
    ui.act(view, "approve", "research-plan-approve", "Start by this plan", **look)


def _draw_form(view: RunSnapshot) -> None:
    """The plan as lines. What is typed survives a refresh."""
    draft, given = name_draft(view), _write_lines(view)
    drafts.text_area("Parts of the plan", draft, given=given, height=180)
    st.caption(HINT)
    ui.button("Use this plan", "research-plan-save", _save, view, draft, type="primary")


def name_draft(view: RunSnapshot) -> str:
    """The draft of this plan: one of other parts has another."""
    return f"plan:{view.run.id}:{hashlib.sha256(_write_lines(view).encode()).hexdigest()[:10]}"


def _write_lines(view: RunSnapshot) -> str:
    return "\n".join(format_question(part.question) for part in view.state.plan)


def _save(view: RunSnapshot, draft: str) -> None:
    def saved(_: int) -> None:
        drafts.clear(draft)
        ui.close_popover(EDIT_POPOVER)

    parts = drafts.read(draft).splitlines()
    done = "The plan was changed. The next step follows it."
    client.act(view.run.id, "replan", parts=parts, done=done, then=saved)
