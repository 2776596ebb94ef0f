"""The steps of a run on the screen, of every flow: cards, newest first, each with its reason and what came of
it; under ⋯ what can be done with it."""

from __future__ import annotations

from typing import Any

import streamlit as st

from agent.actions import acts
from agent.workbench import RunSnapshot
from pages.widgets.run import fork_dialog
from pages.widgets.run.timeline_cards import Card, build_cards
from pages.widgets.shell import badges, escape, pagination, ui, view_cache

PAGE_SIZE = 8
"""Cards on a page: the cost of a poll must not grow with the run."""
MENU_KEY = "research-card-open"
"""The session key of what was chosen under ⋯: (run, last step of the card, what)."""
VARIANT, ERASE = "Start a variant from here", "Erase this note"


def draw_run(view: RunSnapshot) -> None:
    """The newest cards of a run; the older ones on further pages."""
    run_id, key = view.run.id, f"research-journey-{view.run.id}"
    newest = view_cache.get_or_compute(view, "cards", lambda: build_cards(view))[::-1]
    for i, card in enumerate(pagination.take_page(newest, PAGE_SIZE, key)):
        with st.container(key=f"research-step-{card.n}-{i}", gap=None):
            st.html(render_card(card, last=card is newest[-1]))
            _draw_menu(view, card, f"{card.n}-{i}")
            if st.session_state.get(MENU_KEY) == (run_id, card.end, VARIANT):
                fork_dialog.draw_form(view, card, _close)
            if st.session_state.get(MENU_KEY) == (run_id, card.end, ERASE) and card.private_note >= 0:
                _draw_erase(view, card.private_note)
    pagination.draw(len(newest), PAGE_SIZE, key, "cards")


def _draw_menu(view: RunSnapshot, card: Card, key: str) -> None:
    options = [VARIANT] * acts.is_possible("fork", view) + [ERASE] * (card.private_note >= 0)
    if not options:
        return
    with st.container(key=f"research-card-menu-{key}"):
        name = (
            f"More about step {card.numbers}" if card.number else f"More about “{escape.md(card.title, 40)}”"
        )
        chosen = st.menu_button(
            name, options, key=f"research-card-{key}", icon=":material/more_horiz:", type="tertiary"
        )
    if chosen:
        st.session_state[MENU_KEY] = (view.run.id, card.end, chosen)


def _close(_: Any = None) -> None:
    st.session_state.pop(MENU_KEY, None)


def _draw_erase(view: RunSnapshot, step: int) -> None:
    """The way to erase a private note for good, with a confirmation."""
    with st.container(border=True, key=f"research-erase-{step}"):
        st.markdown(
            "Removes the note for good, with every text that was made from it: here, in variants and in "
            "further questions. Backups that were made before still hold it."
        )
        with st.container(horizontal=True):
            more: Any = {"given": {"step": step}, "done": "Erased. No text of the note is left here."}
            key, look = f"research-erase-do-{step}", {"icon": "delete_forever", "type": "primary"}
            ui.act(view, "erase_note", key, "Erase for good", **look, **more)
            ui.button("Cancel", f"research-erase-cancel-{step}", _close)


def render_card(card: Card, *, last: bool) -> str:
    """A card as HTML."""
    dot = f'<span class="dot {card.tone}" aria-hidden="true">{card.numbers or card.mark}</span>'
    rounds = "".join(f'<div class="beside">{_render_body(one)}</div>' for one in card.beside)
    return f'<div class="ts step{" last" * last}">{dot}{_render_body(card, rounds)}</div>'


def _render_body(card: Card, rounds: str = "") -> str:
    subject = escape.render_link(card.url, card.what) if card.url else escape.html(card.what)
    why = f'<div class="why">{escape.html(card.why)}</div>' if card.why else ""
    chips = f'<div class="chips">{badges.render_row(card.chips)}</div>' if card.chips else ""
    items = "".join(
        f'<li class="{css}">{escape.html(escape.shorten(text, 220))}</li>' for text, css in card.items
    )
    listed = f"<ul>{items}</ul>" if items else ""
    head = f'<div class="head">{escape.html(card.title)} <span class="what">{subject}</span></div>'
    return f"{head}{why}{rounds}{chips}{listed}"
