"""A fact as a card: its quote in the words around it, its source, the way into its page, and what a person
may do with it."""

from __future__ import annotations

from typing import Any

import streamlit as st

from agent.actions import acts
from agent.errors import NotFound
from agent.types import PAGE_ORIGIN_LABELS, Fact, PersonMark
from agent.workbench import RunSnapshot
from pages.widgets.evidence import facts, page_text
from pages.widgets.shell import client, escape, labels, ui

DONE = {"struck": "Excluded.", "pinned": "Always used from now on.", "none": "As it was found."}


def draw(view: RunSnapshot, fact: Fact, key: str, *, number: int = 0, is_editable: bool = False) -> None:
    """The quote of a fact with its source, `number` of the answer's, the way into its page, and with
    `is_editable` what may be done with it."""
    st.html(f'<div class="ts">{render_quote(fact, number)}</div>')
    with st.container(horizontal=True, vertical_alignment="center", key=f"{key}-acts"):
        if fact.page_id:
            is_known = fact.id in view.state.facts
            place = {"fact": fact.id} if is_known else {"from": str(fact.start), "to": str(fact.end)}
            see = {"see": st.query_params["see"]} if "see" in st.query_params else {}
            way = {"run": view.run.id, "id": fact.page_id, **place, **see}
            ui.link("pages/page.py", "See it in the page", "", way)
        if is_editable and acts.is_possible("mark", view):
            _draw_mark_button(view, fact, "struck")
            if not fact.is_own_knowledge:
                _draw_mark_button(view, fact, "pinned")
            key = f"fact-correct-{fact.id}"
            with ui.popover("*Correct*", key, "edit", type="tertiary", help="Correct") as opened:
                if opened.open:
                    _draw_correction(view, fact, key)


def render_quote(fact: Fact, number: int = 0) -> str:
    """A quote in the words around it, and where it is from."""
    try:
        text = client.workbench().page(fact.page_id).text if fact.page_id else ""
    except NotFound:
        text = ""
    when = f"published {fact.published_at[:10]}" if fact.published_at else ""
    when = when or (f"read {labels.format_time(fact.fetched_at)}" if fact.fetched_at else "")
    parts = (
        f"<b>{number}</b>" if number else "",
        escape.render_link(fact.url, fact.title or escape.shorten_url(fact.url)) if fact.url else "",
        escape.html(escape.host(fact.url) if fact.url else "you"),
        PAGE_ORIGIN_LABELS[fact.given],
        escape.html(when),
    )
    told = f'<p class="small soft">{" · ".join(filter(None, parts))}</p>'
    return page_text.render_quote(text, fact) + told


def _draw_mark_button(view: RunSnapshot, fact: Fact, decision: PersonMark) -> None:
    """The button that sets a decision, or takes it back where it holds."""
    wanted: PersonMark = "none" if fact.decision == decision else decision
    label, icon = facts.MARKS[wanted]
    if fact.decision == decision == "pinned":
        label, icon = "Use normally", "keep_off"
    more: Any = {"icon": icon, "help": label, "type": "tertiary"}
    more["given"] = {"facts": [fact.id], "decision": wanted}
    more["done"] = f"{DONE[wanted]} {facts.describe_consequence(view)}".strip()
    ui.act(view, "mark", f"fact-{label.lower().replace(' ', '-')}-{fact.id}", f"*{label}*", **more)


def _draw_correction(view: RunSnapshot, fact: Fact, popover: str) -> None:
    """The fields of a correction: the draft of the fact, as in the table of facts."""
    draft = facts.drafts_of(view.run.id).setdefault(fact.id, {})
    fields = {"statement": "What it states", "quote": "Exact quote"}
    hints = {"quote": "Checked against the stored page."}
    for column in list(fields)[: 1 if fact.is_own_knowledge else 2]:
        key = f"fact-card-{column}-{fact.id}"

        def keep(column: str = column, key: str = key) -> None:
            draft[column] = st.session_state[key]

        given: Any = {"key": key, "height": 100, "help": hints.get(column), "on_change": keep}
        st.text_area(fields[column], draft.get(column, getattr(fact, column)), **given)
    args = (facts.save, view, [fact], popover)
    ui.button("Save the correction", f"fact-card-save-{fact.id}", *args, type="primary")
