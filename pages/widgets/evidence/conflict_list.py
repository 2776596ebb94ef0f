"""Conflicts: what is said, by which sites in which words, of which date, how each stands, and what a person
may do about it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import streamlit as st

from agent.actions import acts, conflict_rulings
from agent.actions.conflict_rulings import SideSummary
from agent.flows.research.policy import settling_query
from agent.types import Conflict, Status
from agent.workbench import RunSnapshot
from pages.widgets.evidence import fact_card, facts
from pages.widgets.shell import badges, client, empty_state, escape, pagination, ui

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
    known = conflict_rulings.active_conflicts(view.state)
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
    """One conflict: each side with its quotes, and what a person may do: take a side, say that both or
    neither hold, have the run look for what would settle it, open it again."""
    is_possible, name = acts.is_possible("mark", view), f"conflict-{conflict.id}"
    with st.container(key=name, gap="small"):
        st.html(f'<div class="ts">{render_head(conflict)}</div>')
        for side in conflict_rulings.summarize_sides(conflict, view.state.facts):
            key = f"{name}-side-{hashlib.sha256(side.value.encode()).hexdigest()[:8]}"  # wherever it moves
            with st.container(border=True, key=key, gap="small"):
                st.html(f'<div class="ts side">{_render_value(side)}</div>')
                for fact in side.facts[:MAX_QUOTES]:
                    fact_card.draw(view, fact, f"{key}-{fact.id}")
                if is_possible and not side.is_chosen:
                    label = escape.md(f"{escape.shorten(side.value, 40)} is right")
                    choices = {"Write it into the answer": ("take", side.value)}
                    _draw_ruling(view, conflict, f"{key}-take", label, "check", choices)
        if not is_possible:
            return
        with st.container(horizontal=True, vertical_alignment="center", key=f"conflict-doors-{conflict.id}"):
            choices = {"Both are correct": ("both", ""), "Neither is correct": ("neither", "")}
            key = f"conflict-settle-{conflict.id}"
            _draw_ruling(view, conflict, key, "Both or neither", "gavel", choices, type="tertiary")
            if acts.is_possible("look", view):
                key = f"conflict-look-{conflict.id}"
                with ui.popover("Look for more evidence", key, "travel_explore", type="tertiary"):
                    words, most = f"conflict-query-{conflict.id}", conflict_rulings.MAX_REASON_CHARS
                    query = settling_query(view.state, conflict)
                    st.text_input("Words to search for", value=query, key=words, max_chars=most)
                    has_ended = view.run.status in (Status.REVIEW, Status.DONE)
                    after = "The run goes on with this search and then writes a new answer."
                    st.caption(after if has_ended else "This is the next search of the run.")
                    args = (_request_search, view, conflict, words, key)
                    ui.button("Search for this", f"conflict-search-{conflict.id}", *args, type="primary")
            if conflict.status == "settled":  # last: the menus before it keep their position
                given = {"conflict": conflict.id, "ruling": "open"}
                key = f"conflict-reopen-{conflict.id}"
                ui.act(view, "settle", key, "Reopen", icon="lock_open", given=given, type="tertiary")


def _draw_ruling(
    view: RunSnapshot,
    conflict: Conflict,
    name: str,
    label: str,
    icon: str,
    choices: Mapping[str, tuple[str, str]],
    **more: Any,
) -> None:
    """A menu with the field for the reason, and a button for each ruling with the value it takes."""
    with ui.popover(label, name, icon, **more):
        st.markdown(f"**{escape.md(conflict.topic)}**")
        most, hint = conflict_rulings.MAX_REASON_CHARS, "e.g. The register is the first source."
        st.text_input("Why? (shown in the answer)", key=f"{name}-why", max_chars=most, placeholder=hint)
        kind = "primary" if len(choices) == 1 else "secondary"
        for choice, (ruling, value) in choices.items():
            args = (_settle, view, conflict, ruling, value, name)
            ui.button(choice, f"{name}-{ruling}", *args, type=kind)


def _settle(view: RunSnapshot, conflict: Conflict, ruling: str, value: str, name: str) -> None:
    given = {"conflict": conflict.id, "ruling": ruling, "value": value}
    given["because"] = st.session_state.get(f"{name}-why") or ""
    done = f"Settled. {facts.describe_consequence(view)}".strip()
    client.act(view.run.id, "settle", done=done, then=lambda _: ui.close_popover(name), **given)


def _request_search(view: RunSnapshot, conflict: Conflict, key: str, popover: str) -> None:
    then = {"then": lambda _: ui.close_popover(popover), "done": "This is searched for next."}
    client.act(view.run.id, "look", conflict=conflict.id, words=st.session_state.get(key) or "", **then)


def render_head(conflict: Conflict) -> str:
    """What a conflict is about, how it stands, and what a person or a model made of it."""
    told = conflict.reason and f"Opened again: {conflict.reason}"
    status = ""
    if conflict.status == "settled":
        tone = "live" if conflict.settled_by == "model" else "good"
        by = "resolved by a program" if conflict.is_by_program else SETTLED_BY.get(conflict.settled_by)
        status = badges.render(by or "settled", tone)
        told = "" if conflict.settled_by == "model" else describe_ruling(conflict)
    reading = conflict.model_reading and f"The model's reading: {conflict.model_reading}"
    notes = "".join(f'<p class="small soft">{escape.html(note)}</p>' for note in (told, reading) if note)
    return f"<h3>{escape.html(conflict.topic)} {status}</h3>{notes}"


def describe_ruling(conflict: Conflict) -> str:
    """What holds by a person's word or the count of sources, and what else is said."""
    others = [side for side in conflict.values if side.text != conflict.chosen]
    said = "; ".join(f"{side.text}, {' and '.join(side.sites) or 'you'}" for side in others)
    holds = conflict.chosen or ("Neither holds" if conflict.ruling == "neither" else "Both hold")
    by = "" if conflict.settled_by == "evidence" or conflict.is_by_program else "you decided: "
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
