"""The journey on the screen: cards, newest first, each with its reason, its outcome and what was found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from agent.text.plurals import format_changes, format_count
from agent.workbench import RunSnapshot
from pages.widgets.run import fork_dialog
from pages.widgets.run.timeline_cards import Card, build_cards
from pages.widgets.shell import badges, escape, labels, pagination, ui, view_cache

PAGE_SIZE = 8
"""Cards on a page: the cost of a poll must not grow with the run."""
GLYPHS = {"ask": "?", "stuck": "↻", "refused": "×", "person": "•", "given": "+", "answer": "=", "event": "!"}


def draw_run(view: RunSnapshot) -> None:
    """The newest cards of a run, each with the way to branch from it; the older ones on further pages."""
    run_id = view.run.id
    cards = view_cache.get_or_compute(view, "cards", lambda: _build_shown_cards(view))
    key = f"research-journey-{run_id}"
    newest = cards[::-1]
    for card in pagination.take_page(newest, PAGE_SIZE, key):
        with st.container(key=f"research-step-{card.n}-{card.kind}", gap=None):
            st.html(_render_card(card, run_id, last=card is newest[-1]))
            fork_dialog.draw_on_card(view, card)
            if card.private_note >= 0:
                _draw_erase(view, card.private_note)
    pagination.draw(len(newest), PAGE_SIZE, key, "cards")


def _draw_erase(view: RunSnapshot, step: int) -> None:
    """The way to erase a private note for good, with a confirmation."""
    with ui.popover("Erase this note", f"research-erase-{step}", "delete_forever", type="tertiary"):
        st.markdown(
            "Removes the note for good, with every text that was made from it: here, in branches and in "
            "further questions. Backups that were made before still hold it."
        )
        args = (view, "erase_note", f"research-erase-do-{step}", "Erase for good")
        more: Any = {"given": {"step": step}, "done": "Erased. No text of the note is left here."}
        ui.act(*args, icon="delete_forever", type="primary", **more)


def _build_shown_cards(view: RunSnapshot) -> list[Card]:
    """The cards, without a confidence as long as there is none to show."""
    cards = build_cards(view.steps, view.state)
    for card in cards:
        card.model = view.run.settings.model
    for card in cards if view.state.shown_confidence is None else ():
        card.level, card.moves, card.assessment = None, [], ""
    return cards


def _render_card(card: Card, run_id: str, *, last: bool) -> str:
    mark = str(card.number) if card.number else GLYPHS.get(card.kind, "")
    parts = [
        (
            f'<div class="ts step{" last" if last else ""}"><span class="dot {card.tone}'
            f'" aria-hidden="true">{mark}</span>'
        ),
        (
            f'<div class="head">{escape.html(card.title)} <span class="what">'
            f"{_render_subject(card, run_id)}</span></div>"
        ),
        f'<div class="why">{escape.html(card.why)}</div>' if card.why else "",
        "".join(_render_beside(one, card.n) for one in card.beside),
        f'<div class="chips">{_render_chips(card)}</div>',
        f'<div class="small">{escape.html(card.detail)}</div>'
        if card.detail and (card.outcome != "ok" or not card.url)
        else "",
        _render_facts(card),
        _render_edited_facts(card),
        "".join(
            (
                f'<div class="small">{escape.html(r["what"])}: <span class="soft">'
                f"{escape.html(r['why'])}</span></div>"
            )
            for r in card.refused
        ),
        _render_conflicts(card),
        _render_details(card),
        "</div>",
    ]
    return "".join(parts)


def _render_beside(card: Card, n: int) -> str:
    """One search or page of a round, with its outcome and its reason."""
    detail = f'<div class="small">{escape.html(card.detail)}</div>' if card.detail else ""
    return (
        f'<div class="beside"><b>{escape.html(card.title)}</b> <span class="what">'
        f'{_render_subject(card, str(n))}</span> <span class="chips">{badges.render_row(_mark_outcome(card))}'
        f'</span><div class="why">{escape.html(card.why)}</div>{detail}</div>'
    )


def _render_subject(card: Card, run_id: str) -> str:
    if card.url:
        return escape.render_link(card.url)
    if card.what and card.kind in ("action", "ask"):
        return f"“{escape.html(card.what)}”"
    return escape.html(card.what)


def _render_chips(card: Card) -> str:
    marks = _mark_outcome(card)
    if card.facts:
        marks.append((format_count(len(card.facts), "new fact"), "good"))
    if card.rung and card.kind == "action":
        marks.append((labels.ESCALATION.get(card.rung, card.rung), "warn"))
    if card.level is not None and round(card.level, 2) != round(card.before, 2):
        marks.append(
            (f"confidence {labels.format_percent(card.before)} → {labels.format_percent(card.level)}", "")
        )
    spoke = labels.name_actor(card.by, card.model) if card.kind not in ("person", "given") else ""
    said = f'<span class="small soft">{spoke}</span>' if spoke else ""
    return badges.render_row(marks) + said


def _mark_outcome(card: Card) -> list[tuple[str, str]]:
    """How an action ended; nothing for a round of several, whose actions tell it each."""
    if not card.outcome:
        return []
    is_search = card.outcome == "ok" and not card.url
    found = format_count(card.hits, "result") if is_search else labels.OUTCOME[card.outcome]  # type: ignore[index]
    return [(found, card.tone)]


def _render_facts(card: Card) -> str:
    if not card.facts:
        return ""
    items = "".join(
        f"<li>{escape.html(escape.shorten(fact['statement'], 220))}</li>" for fact in card.facts[:3]
    )
    more = len(card.facts) - 3
    return f"<ul>{items}</ul>" + (
        f'<div class="small soft">and {more} more, in the table of facts</div>' if more > 0 else ""
    )


def _render_edited_facts(card: Card) -> str:
    """The first facts an edit changed; a struck one is drawn so, a corrected one with what it said before."""
    items = []
    for fact in card.edited_facts[:3]:
        shown = escape.html(escape.shorten(fact["statement"], 220))
        before = (
            f'<del class="soft">{escape.html(escape.shorten(fact["former"], 160))}</del> '
            if fact.get("former")
            else ""
        )
        now = f'<span class="struck">{shown}</span>' if fact["decision"] == "struck" else shown
        items.append(f"<li>{before}{now}</li>")
    more = len(card.edited_facts) - 3
    return (f"<ul>{''.join(items)}</ul>" if items else "") + (
        f'<div class="small soft">and {more} more</div>' if more > 0 else ""
    )


def _render_conflicts(card: Card) -> str:
    return "".join(
        f'<div class="small">{badges.render("conflict", "bad")} '
        f"{escape.html(c['subject'])}: {escape.html(c['attribute'])}: "
        f"{escape.html(' or '.join(value['text'] for value in c['values']))}</div>"
        for c in card.conflicts
    )


def _render_details(card: Card) -> str:
    told = ""
    if why := card.analysis_fallback:
        told = f'<p class="small"><b>Weighed without the model:</b> {escape.html(why)}</p>'
    if card.assessment or card.moves:
        said = f'<p class="small">{escape.html(card.assessment)}</p>' if card.assessment else ""
        told += (
            f"<details><summary>Effect on confidence</summary>{said}"
            f"{render_confidence_changes(card.level or 0.0, card.moves)}</details>"
        )
    return told


def render_confidence_changes(level: float, given: Sequence[dict[str, Any]]) -> str:
    """Reasons of the moves that led to a level of confidence, as an HTML list."""
    changes = format_changes(level, [m["delta"] for m in given])
    items = "".join(
        (
            f'<li><b class="{"rise" if m["delta"] >= 0 else "fall"}">{change}'
            f"</b> {escape.html(m['reason'])}</li>"
        )
        for change, m in zip(changes, given, strict=True)
    )
    return f"<ul>{items}</ul>" if items else '<p class="small soft">It did not move.</p>'
