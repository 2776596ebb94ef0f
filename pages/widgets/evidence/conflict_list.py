"""Conflicts as rows: what is said, by which sites in which words, of which date, and how it stands."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from agent.actions import acts, conflict_rulings
from agent.actions.conflict_rulings import SideSummary
from agent.types import Conflict, Fact
from agent.workbench import RunSnapshot
from pages.widgets.evidence import conflict_actions
from pages.widgets.shell import badges, empty_state, escape, markup, pagination, view_cache

PAGE_SIZE = 6
"""Conflicts on a page: the cost of a poll must not grow with the run."""
MAX_QUOTES = 4
"""Quotes of a value that are drawn."""
KIND_LABELS = {
    "number": "different figures",
    "date": "different dates",
    "name": "different words",
    "polarity": "affirmed and denied",
}


def draw(view: RunSnapshot) -> None:
    """Each conflict with its sides, and what a person can do about it."""
    known = view_cache.get_or_compute(
        view, "conflicts", lambda: conflict_rulings.active_conflicts(view.state)
    )
    if not known:
        empty_state.draw(
            "No conflicts found",
            "When two sources say different things about the same matter, both appear here side by side.",
        )
        return
    turned = f"conflicts-{view.run.id}"
    for conflict in pagination.take_page(known, PAGE_SIZE, turned):
        draw_conflict(view, conflict)
    pagination.draw(len(known), PAGE_SIZE, turned, "conflicts")


def draw_conflict(view: RunSnapshot, conflict: Conflict) -> None:
    """One conflict: each side with its quotes, and the button that takes it."""
    is_possible = acts.is_possible("mark", view)
    with st.container(key=f"conflict-{conflict.id}", gap="small"):
        st.html(f'<div class="ts">{_render_head(conflict)}</div>')
        for n, side in enumerate(conflict_rulings.summarize_sides(conflict, view.state.facts)):
            with st.container(border=True, key=f"conflict-{conflict.id}-side-{n}", gap="small"):
                st.html(f'<div class="ts side">{_render_side(side, view.run.id)}</div>')
                if is_possible and not side.is_chosen:
                    conflict_actions.draw_take(view, conflict, side.value, n)
        if is_possible:
            conflict_actions.draw(view, conflict)


def render_conflict(conflict: Conflict, facts: Mapping[str, Fact], run_id: str) -> str:
    """One conflict as HTML."""
    found = conflict_rulings.summarize_sides(conflict, facts)
    sides = "".join(f'<div class="side">{_render_side(side, run_id)}</div>' for side in found)
    return _render_head(conflict) + sides


def _render_head(conflict: Conflict) -> str:
    """What a conflict is about and how it stands."""
    notes = filter(None, (describe_resolution(conflict), describe_reading(conflict)))
    reason = "".join(f'<p class="small soft">{escape.html(note)}</p>' for note in notes)
    status = "" if conflict.status == "open" else _render_status(conflict)
    return f"<h3>{escape.html(conflict.topic)} {status}</h3>{reason}"


def _render_status(conflict: Conflict) -> str:
    if conflict.status == "open":
        return badges.render("Unresolved", "bad")
    return badges.render(
        {
            "person": "resolved by you",
            "evidence": "resolved by source count",
            "model": "resolved by the model's reading",
        }.get(conflict.settled_by, "settled"),
        "live" if conflict.settled_by == "model" else "good",
    )


def describe_resolution(conflict: Conflict) -> str:
    """What a person or the count of sources made of it, in a sentence; "" where neither did."""
    if not conflict.reason or conflict.settled_by == "model":
        return ""
    if conflict.status == "open":
        return f"Opened again: {conflict.reason}"
    ruled = (
        f"“{conflict.chosen}” stands"
        if conflict.chosen
        else "Neither is correct"
        if conflict.ruling == "neither"
        else "Both are correct"
    )
    return (
        f"{ruled}: {conflict.reason}"
        if conflict.settled_by == "evidence"
        else f"{ruled}, because “{conflict.reason}”"
    )


def describe_reading(conflict: Conflict) -> str:
    """What a model made of it, in a sentence; "" when none was asked."""
    return f"The model's reading: {conflict.model_reading}" if conflict.model_reading else ""


def _render_side(side: SideSummary, run_id: str) -> str:
    """A value with who says it, in which words, and when."""
    mark = f" {badges.render('chosen', 'good')}" if side.is_chosen else ""
    quotes = "".join(
        f'<div class="quote">{escape.html(fact.quote)}</div><p class="small soft">'
        f"{escape.render_link(fact.url, fact.title or escape.host(fact.url))} · "
        f"{escape.html(escape.host(fact.url))}"
        f"{markup.stored_page_link(run_id, fact.page_id, fact.id)}</p>"
        for fact in side.facts[:MAX_QUOTES]
    )
    about = " · ".join(filter(None, (side.source_count_text, _describe_date(side))))
    value = f'<b class="value">{escape.html(side.value)}</b>{mark}'
    return f'<p>{value} <span class="small soft">{escape.html(about)}</span></p>{quotes}'


def _describe_date(side: SideSummary) -> str:
    earliest, latest = side.earliest[:10], side.latest[:10]
    told = f"{earliest} to {latest}" if latest != earliest else earliest
    how = "published" if side.has_publication_date else "read"
    return f"{how} {told}" if told else ""
