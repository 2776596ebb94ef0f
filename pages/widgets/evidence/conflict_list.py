"""Conflicts: what is said, by which sites in which words, of which date, and how each stands."""

from __future__ import annotations

import streamlit as st

from agent.actions import acts, conflict_rulings
from agent.actions.conflict_rulings import SideSummary
from agent.types import Conflict
from agent.workbench import RunSnapshot
from pages.widgets.evidence import conflict_actions, fact_card
from pages.widgets.shell import badges, empty_state, escape, pagination, view_cache

PAGE_SIZE = 6
"""Conflicts on a page: the cost of a poll must not grow with the run."""
MAX_QUOTES = 4
"""Quotes of a value that are drawn."""
SETTLED_BY = {
    "person": "resolved by you",
    "evidence": "resolved by source count",
    "model": "resolved by the model's reading",
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
        st.html(f'<div class="ts">{render_head(conflict)}</div>')
        for n, side in enumerate(conflict_rulings.summarize_sides(conflict, view.state.facts)):
            key = f"conflict-{conflict.id}-side-{n}"
            with st.container(border=True, key=key, gap="small"):
                st.html(f'<div class="ts side">{_render_value(side)}</div>')
                for fact in side.facts[:MAX_QUOTES]:
                    fact_card.draw(view, fact, f"{key}-{fact.id}")
                if is_possible and not side.is_chosen:
                    conflict_actions.draw_take(view, conflict, side.value, n)
        if is_possible:
            conflict_actions.draw(view, conflict)


def render_head(conflict: Conflict) -> str:
    """What a conflict is about, how it stands, and what a person or a model made of it."""
    told = conflict.reason and f"Opened again: {conflict.reason}"
    status = ""
    if conflict.status == "settled":
        tone = "live" if conflict.settled_by == "model" else "good"
        status = badges.render(SETTLED_BY.get(conflict.settled_by, "settled"), tone)
        told = "" if conflict.settled_by == "model" else describe_ruling(conflict)
    reading = conflict.model_reading and f"The model's reading: {conflict.model_reading}"
    notes = "".join(f'<p class="small soft">{escape.html(note)}</p>' for note in (told, reading) if note)
    return f"<h3>{escape.html(conflict.topic)} {status}</h3>{notes}"


def describe_ruling(conflict: Conflict) -> str:
    """What holds by a person's word or the count of sources, and what else is said."""
    others = [side for side in conflict.values if side.text != conflict.chosen]
    said = "; ".join(f"{side.text}, {' and '.join(side.sites) or 'you'}" for side in others)
    holds = conflict.chosen or ("Neither holds" if conflict.ruling == "neither" else "Both hold")
    by = "" if conflict.settled_by == "evidence" else "you decided: "
    label = "Other value" if len(others) == 1 else "Other values" if conflict.chosen else "The values"
    return f"{holds} ({by}{conflict.reason.rstrip('.')}). {label}: {said}."


def _render_value(side: SideSummary) -> str:
    """A value with how many sources say it, and when."""
    mark = f" {badges.render('chosen', 'good')}" if side.is_chosen else ""
    earliest, latest = side.earliest[:10], side.latest[:10]
    when = f"{earliest} to {latest}" if latest != earliest else earliest
    how = "published" if side.has_publication_date else "read"
    about = " · ".join([side.source_count_text, *([f"{how} {when}"] if when else [])])
    value = f'<b class="value">{escape.html(side.value)}</b>{mark}'
    return f'<p>{value} <span class="small soft">{escape.html(about)}</span></p>'
