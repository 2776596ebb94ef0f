"""The table of facts to read: each row opens to the words it stands on. What a person may do with them stands in ledger.py."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from agent.flows.sifting import Sift, mark, sifted
from agent.types import GIVEN, Fact
from pages.widgets import empty, safe, words

SHOWN = 40
"""Rows of a page: the cost of a poll must not grow with the run."""
FIND = "research-facts-find"
STRUCK = ' class="struck"'


def draw(facts: Sequence[Fact], run_id: str) -> None:
    """The facts, newest first, read-only; words to find, and page after page when there are many."""
    if not facts:
        empty.draw("No facts so far", "Each page that is read adds the statements that bear on the question, with the words they stand on.")
        return
    find = st.text_input("Find in the facts", key=FIND, type="search", live="300ms", placeholder="words, a site …") if len(facts) > 8 else ""
    read(sifted(facts, Sift(find)), run_id)


def read(fitting: Sequence[Fact], run_id: str, *, editable: bool = False) -> None:
    """One page of these facts as a table."""
    shown = paged(fitting, f"facts-page-{run_id}")
    if not shown:
        empty.draw("No fact fits", "Use other words, or take a filter away.")
        return
    st.caption("Open a row to see the verbatim quote. “Checked” means: found, word for word, in the stored page.")
    st.html(table(shown, run_id, editable=editable))
    turn_pages(fitting, f"facts-page-{run_id}")


def paged(fitting: Sequence[Fact], key: str) -> Sequence[Fact]:
    """The facts of the page that is turned to: only those are drawn."""
    last = max(1, -(-len(fitting) // SHOWN))
    at = min(int(st.session_state.get(key) or 1), last)
    if st.session_state.get(key, at) != at:
        st.session_state[key] = at
    return fitting[(at - 1) * SHOWN : at * SHOWN]


def turn_pages(fitting: Sequence[Fact], key: str) -> None:
    """The page numbers, where there is more than one page."""
    if len(fitting) > SHOWN:
        st.pagination(-(-len(fitting) // SHOWN), key=key)
        st.caption(f"{len(fitting):,} facts, {SHOWN} on a page")


def table(facts: Sequence[Fact], run_id: str, *, editable: bool = False) -> str:
    """The facts as an HTML table."""
    rows = "".join(_row(fact, run_id, editable=editable) for fact in facts)
    return f'<div class="ts facts"><table><tr><th>Statement</th><th>Site</th><th>Quote</th></tr>{rows}</table></div>'


def _row(fact: Fact, run_id: str, *, editable: bool) -> str:
    where = safe.link(fact.url, safe.host(fact.url)) if fact.url else safe.html("you" if fact.own else fact.origin.replace("_", " "))
    return (
        f'<tr><td><details><summary{STRUCK if fact.decision == "struck" else ""}>{safe.html(fact.statement)}</summary>{behind(fact, run_id)}'
        f"{edit_link(fact, run_id) if editable else ''}</details></td><td>{where}</td><td>{chip(fact)}</td></tr>"
    )


def behind(fact: Fact, run_id: str) -> str:
    """What a fact stands on: the verbatim quote and where it stands; what it said before a correction."""
    quote = "" if fact.own else f'<div class="quote">{safe.html(fact.quote)}</div>'
    former = f'<p class="small">Before your correction: <del>{safe.html(fact.former)}</del></p>' if fact.former else ""
    lacking = former and not fact.verified and not fact.own
    told = '<p class="small warned">The quote does not carry these words, so it is not backed by a page.</p>' if lacking else ""
    return f'{quote}{former}{told}<p class="small soft">{_origin(fact, run_id)}</p>'


def edit_link(fact: Fact, run_id: str) -> str:
    """The way to a fact's own card, where it is pinned, struck and corrected; relative, so that a path prefix in front of us is kept."""
    return f'<p class="small"><a href="{safe.focused(run_id, fact.id)}" target="_self">Pin, strike or correct this fact</a></p>'


def chip(fact: Fact) -> str:
    """How a fact stands, as a chip."""
    tone = "" if fact.decision == "struck" or fact.own else "good" if fact.usable else "warn"
    return f'<span class="chip {tone}">{safe.html(mark(fact))}</span>'


def _origin(fact: Fact, run_id: str) -> str:
    parts = [
        "A person's own knowledge, on no page" if fact.own else safe.html(fact.title),
        GIVEN[fact.given],
        f"published {safe.html(fact.published_at[:10])}" if fact.published_at else "",
        f"read {words.when(fact.fetched_at)}" if fact.fetched_at else "",
        f'<a href="{safe.stored(run_id, fact.page_id, fact.id)}" target="_blank">stored page</a>' if fact.page_id else "",
    ]
    return " · ".join(part for part in parts if part)
