"""What a person may do with one fact."""

from __future__ import annotations

from typing import Any

import streamlit as st

from agent.actions.fact_edits import FactEdit
from agent.types import Fact, PersonMark
from agent.workbench import RunSnapshot
from pages.widgets.evidence import facts
from pages.widgets.shell import ui

MARK_BUTTONS: dict[PersonMark, tuple[str, str]] = {
    "pinned": ("Always use", "keep"),
    "struck": ("Exclude", "block"),
}
UNMARK_BUTTONS: dict[PersonMark, tuple[str, str]] = {
    "pinned": ("Use normally", "keep_off"),
    "struck": ("Restore", "restart_alt"),
}
MARK_NOTICES: dict[PersonMark, str] = {
    "pinned": "Always used from now on.",
    "struck": "Excluded.",
    "none": "As it was found.",
}


def draw_buttons(view: RunSnapshot, fact: Fact) -> None:
    """What a person may do with a fact: use it always, leave it out, correct it."""
    with st.container(horizontal=True, vertical_alignment="center", key=f"fact-buttons-{fact.id}"):
        _draw_mark_button(view, fact, "struck")
        if not fact.is_own_knowledge:
            _draw_mark_button(view, fact, "pinned")
        with st.popover(
            "Correct",
            icon=":material/edit:",
            type="tertiary",
            key=f"fact-correct-{fact.id}-{len(view.state.edits)}",
        ):
            _draw_correction(view, fact)


def _draw_mark_button(view: RunSnapshot, fact: Fact, decision: PersonMark) -> None:
    """The button that sets a decision, or takes it back where it holds."""
    label, icon = MARK_BUTTONS[decision]
    if fact.decision == decision:
        (label, icon), decision = UNMARK_BUTTONS[decision], "none"
    more: Any = {"icon": icon, "given": {"facts": [fact.id], "decision": decision}}
    more["done"] = f"{MARK_NOTICES[decision]} {facts.describe_consequence(view)}".strip()
    key = f"fact-{label.lower().replace(' ', '-')}-{fact.id}"
    ui.act(view, "mark", key, label, type="tertiary", **more)


def _draw_correction(view: RunSnapshot, fact: Fact) -> None:
    said, quoted = f"fact-card-statement-{fact.id}", f"fact-card-quote-{fact.id}"
    st.text_area("What it states", value=fact.statement, key=said, height=100)
    if not fact.is_own_knowledge:
        st.text_area(
            "Exact quote", value=fact.quote, key=quoted, height=100, help="Checked against the stored page."
        )
    ui.button(
        "Save the correction", f"fact-card-save-{fact.id}", _save, view, fact, said, quoted, type="primary"
    )


def _save(view: RunSnapshot, fact: Fact, said: str, quoted: str) -> None:
    statement, quote = st.session_state.get(said) or "", st.session_state.get(quoted)
    draft = FactEdit(
        fact.id,
        statement=statement if statement != fact.statement else None,
        quote=quote if quote not in (None, fact.quote) else None,
    )
    facts.save(view, [draft])
