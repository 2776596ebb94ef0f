"""Conflicts as rows: what is said, by which sites with which words, since when, from how many independent ones, and how it stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from agent import editing
from agent.evidence.timelines import Timeline, timelines
from agent.flows import moves, settling
from agent.flows.settling import Side
from agent.types import Conflict, Fact
from agent.wording import counted
from agent.workbench import View
from pages.widgets import chips, conflict_doors, empty, memo, paging, safe

SHOWN = 6
"""Conflicts on a page: the cost of a poll must not grow with the run."""
QUOTES = 4
"""Quotes of a value that are drawn."""
TIMELINES = 8
"""Series that are drawn."""
KIND = {"number": "different figures", "date": "different dates", "name": "different words", "polarity": "affirmed and denied"}


def draw(view: View) -> None:
    """Each conflict with its sides, and what a person can do about it."""
    known = memo.of(view, "conflicts", lambda: settling.shown(view.state))
    dated = memo.of(view, "timelines", lambda: series(timelines(moves.memory(view.state))))
    if dated:
        st.html(f'<div class="ts small">{dated}</div>')
    if not known:
        empty.draw("No conflicts found", "When two sources say different things about the same matter, both appear here side by side.")
        return
    turned = f"conflicts-{view.run.id}"
    for conflict in paging.part(known, SHOWN, turned):
        with st.container(border=True, key=f"conflict-{conflict.id}"):
            st.html(f'<div class="ts">{block(conflict, view.state.facts, view.run.id)}</div>')
            if editing.editable(view):
                conflict_doors.draw(view, conflict)
    paging.turn(len(known), SHOWN, turned, "conflicts")


def series(found: Sequence[Timeline]) -> str:
    """Figures of different times as HTML: no conflict, but worth a look beside one."""
    rows = (
        f'<li>{" · ".join(f"{safe.html(point.when)}: <b>{safe.html(point.value)}</b>" for point in timeline.points)}<br>'
        f'<span class="soft">{safe.html(safe.shorten(timeline.about, 120))}</span></li>'
        for timeline in found[:TIMELINES]
    )  # fmt: skip
    head = f"<summary>Figures of different times, which are no conflict ({len(found)})</summary>"
    return f"<details>{head}<ul>{''.join(rows)}</ul></details>" if found else ""


def block(conflict: Conflict, facts: Mapping[str, Fact], run_id: str) -> str:
    """One conflict as HTML."""
    found = settling.sides(conflict, facts)
    asks = chips.one("about your question", "live") if conflict.asks else ""
    head = f"<h3>{safe.html(conflict.about)}</h3><p>{_standing(conflict)} {chips.one(KIND[conflict.kind])} {asks}</p>"
    reason = f'<p class="small">{safe.html(stands(conflict))}</p>' if conflict.reason else ""
    if not found:
        return f'{head}{reason}<p class="small soft">The model reports it; no two facts were found that say so.</p>'
    rows = "".join(_side(side, run_id) for side in found)
    columns = "<tr><th>Value</th><th>Said by</th><th>Since</th></tr>"
    return f'{head}{reason}<div class="scroll"><table>{columns}{rows}</table></div>'


def _standing(conflict: Conflict) -> str:
    if conflict.status == "open":
        return chips.one("open: kept out of the plain claims", "bad")
    return chips.one({"person": "settled by you", "evidence": "settled by the count"}.get(conflict.settled_by, "settled"), "good")


def stands(conflict: Conflict) -> str:
    """What settled it, in a sentence."""
    if conflict.status == "open":
        return f"Opened again: {conflict.reason}"
    ruled = f"“{conflict.chosen}” stands" if conflict.chosen else "Neither holds" if conflict.ruling == "neither" else "Both hold"
    return f"{ruled}: {conflict.reason}" if conflict.settled_by == "evidence" else f"{ruled}, because “{conflict.reason}”"


def _side(side: Side, run_id: str) -> str:
    mark = f" {chips.one('taken', 'good')}" if side.chosen else ""
    quotes = "".join(
        f'<div class="quote small">{safe.html(fact.quote)}</div><p class="small soft">{safe.link(fact.url, safe.host(fact.url))}'
        f'{_stored(run_id, fact.page_id, fact.id)}</p>'
        for fact in side.facts[:QUOTES]
    )  # fmt: skip
    said = f"<details><summary>{safe.html(', '.join(side.sites) or counted(len(side.facts), 'fact'))}</summary>{quotes}</details>"
    told = f'<span class="small soft">{safe.html(side.counted)}</span>'
    return f"<tr><td><b>{safe.html(side.value)}</b>{mark}</td><td>{said}{told}</td><td>{_since(side)}</td></tr>"


def _stored(run_id: str, page_id: str, fact_id: str) -> str:
    return f' · <a href="{safe.stored(run_id, page_id, fact_id)}" target="_blank">stored page</a>' if page_id else ""


def _since(side: Side) -> str:
    earliest, latest = side.earliest[:10], side.latest[:10]
    told = f"{earliest} to {latest}" if latest != earliest else earliest
    how = "published" if side.published else "read"
    return f'{safe.html(told)}<br><span class="small soft">{how}</span>' if told else ""
