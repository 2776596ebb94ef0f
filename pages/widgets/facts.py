"""The table of facts: each row opens to the words it stands on. Read-only."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from agent.types import Fact
from pages.widgets import empty, safe, words

SHOWN = 40
"""Rows drawn at first: the cost of a poll must not grow with the run."""
FIND, ALL = "research-facts-find", "research-facts-all"


def draw(facts: Sequence[Fact], run_id: str) -> None:
    """The facts, newest first; words to find and a way to see them all when there are many."""
    if not facts:
        empty.draw("No facts so far", "Each page that is read adds the statements that bear on the question, with the words they stand on.")
        return
    newest = sorted(facts, key=lambda fact: (-fact.step, fact.start, fact.id))
    find = st.text_input("Find in the facts", key=FIND, type="search", live="300ms", placeholder="words, a site …") if len(facts) > 8 else ""
    fitting = [fact for fact in newest if fits(fact, find)]
    shown = fitting if st.session_state.get(ALL) else fitting[:SHOWN]
    if not shown:
        empty.draw("No fact fits", "Use other words, or empty the field above.")
        return
    st.caption("Open a row to see the verbatim quote. “Checked” means: found, word for word, in the stored page.")
    st.html(table(shown, run_id))
    if len(fitting) > SHOWN:
        st.toggle(f"Show all {len(fitting)} facts", key=ALL)


def fits(fact: Fact, find: str) -> bool:
    """Do all words stand in the fact, its quote, or its address?"""
    text = f"{fact.statement} {fact.quote} {fact.url} {mark(fact)}".casefold()
    return all(word in text for word in find.casefold().split())


def table(facts: Sequence[Fact], run_id: str) -> str:
    """The facts as an HTML table."""
    rows = "".join(_row(fact, run_id) for fact in facts)
    return f'<div class="ts facts"><table><tr><th>Statement</th><th>Site</th><th>Quote</th></tr>{rows}</table></div>'


def _row(fact: Fact, run_id: str) -> str:
    tone = "good" if fact.usable else "warn"
    site = safe.link(fact.url, safe.host(fact.url)) if fact.url else safe.html(fact.origin.replace("_", " "))
    return (
        f'<tr><td><details><summary>{safe.html(fact.statement)}</summary><div class="quote">{safe.html(fact.quote)}</div>'
        f'<p class="small soft">{_origin(fact, run_id)}</p></details></td><td>{site}</td><td><span class="chip {tone}">{mark(fact)}</span></td></tr>'
    )


def _origin(fact: Fact, run_id: str) -> str:
    parts = [
        safe.html(fact.title),
        f"published {safe.html(fact.published_at[:10])}" if fact.published_at else "",
        f"read {words.when(fact.fetched_at)}" if fact.fetched_at else "",
        f'<a href="{safe.stored(run_id, fact.page_id, fact.id)}" target="_blank">stored page</a>' if fact.page_id else "",
    ]
    return " · ".join(part for part in parts if part)


def mark(fact: Fact) -> str:
    """How a fact stands, in one or two words."""
    if fact.decision != "none":
        return fact.decision
    if not fact.verified:
        return "not found"
    return "disputed" if fact.disputed else "checked"
