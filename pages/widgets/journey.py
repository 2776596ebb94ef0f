"""The journey on the screen: cards, newest first, each with its reason, its outcome and what was found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from agent.wording import counted
from agent.workbench import View
from pages.widgets import chips, forkbox, paging, safe, words
from pages.widgets.story import Card

SHOWN = 8
"""Cards on a page: the cost of a poll must not grow with the run."""
GLYPH = {"ask": "?", "stuck": "↻", "refused": "×", "person": "•", "given": "+", "answer": "=", "event": "!"}


def draw(cards: Sequence[Card], run_id: str, view: View | None = None) -> None:
    """Draw the newest cards; the older ones on further pages. With the `view` of a run that can be gone on from, each has the way to do so."""
    key = f"research-journey-{run_id}"
    newest = cards[::-1]
    for card in paging.part(newest, SHOWN, key):
        with st.container(key=f"research-step-{card.n}-{card.kind}", gap=None):
            st.html(_card(card, run_id, last=card is newest[-1]))
            if view is not None:
                forkbox.at(view, card)
    paging.turn(len(newest), SHOWN, key, "cards")


def _card(card: Card, run_id: str, *, last: bool) -> str:
    mark = str(card.number) if card.number else GLYPH.get(card.kind, "")
    parts = [
        f'<div class="ts step{" last" if last else ""}"><span class="dot {card.tone}" aria-hidden="true">{mark}</span>',
        f'<div class="head">{safe.html(card.title)} <span class="what">{_what(card, run_id)}</span></div>',
        f'<div class="why">{safe.html(card.why)}</div>' if card.why else "",
        f'<div class="chips">{_chips(card)}</div>',
        f'<div class="small">{safe.html(card.detail)}</div>' if card.detail and (card.outcome != "ok" or not card.url) else "",
        _found(card),
        _edited(card),
        "".join(f'<div class="small">{safe.html(r["what"])}: <span class="soft">{safe.html(r["why"])}</span></div>' for r in card.refused),
        _conflicts(card),
        _details(card),
        "</div>",
    ]
    return "".join(parts)


def _what(card: Card, run_id: str) -> str:
    if card.url:
        return safe.link(card.url)
    if card.kind == "action" or card.kind == "ask":
        return f"“{safe.html(card.what)}”"
    return safe.html(card.what)


def _chips(card: Card) -> str:
    marks: list[tuple[str, str]] = []
    if card.outcome:
        found = counted(card.hits, "result") if card.outcome == "ok" and not card.url else words.OUTCOME[card.outcome]  # type: ignore[index]
        marks.append((found, card.tone))
    if card.facts:
        marks.append((counted(len(card.facts), "new fact"), "good"))
    if card.rung and card.kind == "action":
        marks.append((words.RUNG.get(card.rung, card.rung), "warn"))
    if card.level is not None and round(card.level, 2) != round(card.before, 2):
        marks.append((f"confidence {words.percent(card.before)} → {words.percent(card.level)}", ""))
    spoke = words.SPEAKER.get(card.by, "") if card.kind not in ("person", "given") else ""
    said = f'<span class="small soft">{spoke}</span>' if spoke else ""
    return chips.row(marks) + said


def _found(card: Card) -> str:
    if not card.facts:
        return ""
    items = "".join(f"<li>{safe.html(safe.shorten(fact['statement'], 220))}</li>" for fact in card.facts[:3])
    more = len(card.facts) - 3
    return f"<ul>{items}</ul>" + (f'<div class="small soft">and {more} more, in the table of facts</div>' if more > 0 else "")


def _edited(card: Card) -> str:
    """The first facts an edit changed; a struck one is drawn so, a corrected one with what it said before."""
    items = []
    for fact in card.edited[:3]:
        shown = safe.html(safe.shorten(fact["statement"], 220))
        before = f'<del class="soft">{safe.html(safe.shorten(fact["former"], 160))}</del> ' if fact.get("former") else ""
        now = f'<span class="struck">{shown}</span>' if fact["decision"] == "struck" else shown
        items.append(f"<li>{before}{now}</li>")
    more = len(card.edited) - 3
    return (f"<ul>{''.join(items)}</ul>" if items else "") + (f'<div class="small soft">and {more} more</div>' if more > 0 else "")


def _conflicts(card: Card) -> str:
    return "".join(
        f'<div class="small">{chips.one("conflict", "bad")} {safe.html(c["subject"])}: {safe.html(c["attribute"])}: '
        f"{safe.html(' or '.join(value['text'] for value in c['values']))}</div>"
        for c in card.conflicts
    )


def _details(card: Card) -> str:
    told = _trouble("Decided", card.trouble) + _trouble("Weighed", card.weighed)
    if card.assessment or card.moves:
        said = f'<p class="small">{safe.html(card.assessment)}</p>' if card.assessment else ""
        told += f"<details><summary>What it means for the confidence</summary>{said}{moves(card.moves)}</details>"
    return told


def _trouble(did: str, why: str) -> str:
    """Who spoke instead of the model, and why; nothing when all is well or there is no model."""
    return f'<p class="small"><b>{did} without the model:</b> {safe.html(why)}</p>' if why else ""


def moves(given: Sequence[dict[str, Any]]) -> str:
    """Reasons of a confidence's moves, as an HTML list."""
    items = "".join(
        f'<li><b class="{"rise" if m["delta"] >= 0 else "fall"}">{m["delta"] * 100:+.0f}</b> {safe.html(m["reason"])}</li>' for m in given
    )
    return f"<ul>{items}</ul>" if items else '<p class="small soft">It did not move.</p>'
