"""The table of facts, and the one that was picked with its quote. Read-only."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from agent.types import Fact
from pages.widgets import empty, safe, words


def draw(facts: Sequence[Fact], run_id: str) -> None:
    """The facts, newest first; a picked row shows its quote below."""
    if not facts:
        empty.draw("No facts yet", "Each page that is read adds the statements that bear on the question, with the words they stand on.")
        return
    newest = sorted(facts, key=lambda fact: (-fact.step, fact.id))
    picked = st.dataframe(
        table(newest), key="research-facts", hide_index=True, on_select="rerun", selection_mode="single-row",
        row_height=54, height=min(54 * len(newest) + 40, 420),
        column_config={
            "Statement": st.column_config.TextColumn(width=290),
            "Site": st.column_config.TextColumn(width=130),
            "Mark": st.column_config.TextColumn(width=95),
            "Step": st.column_config.NumberColumn(width=50),
        },
        alt="Facts with their statement, site, mark and step",
    )  # fmt: skip
    rows = picked.selection.rows  # type: ignore[union-attr]
    if rows and rows[0] < len(newest):
        st.html(shown(newest[rows[0]], run_id))
    else:
        st.caption("Pick a row to see the words it stands on.")


def table(facts: Sequence[Fact]) -> pd.DataFrame:
    """The facts as rows a person can scan."""
    return pd.DataFrame(
        {
            "Statement": [fact.statement for fact in facts],
            "Site": [safe.host(fact.url) if fact.url else fact.origin.replace("_", " ") for fact in facts],
            "Mark": [mark(fact) for fact in facts],
            "Step": [fact.step for fact in facts],
            "Published": [fact.published_at[:10] for fact in facts],
        }
    )


def mark(fact: Fact) -> str:
    """How a fact stands, in one or two words."""
    if fact.decision != "none":
        return fact.decision
    if not fact.verified:
        return "quote not found"
    return "disputed" if fact.disputed else "quote checked"


def shown(fact: Fact, run_id: str) -> str:
    """A fact with its quote, as HTML."""
    tone = "good" if fact.usable else "warn"
    opens = f' · <a href="{safe.stored(run_id, fact.page_id, fact.id)}" target="_blank">see it in the stored page</a>' if fact.page_id else ""
    published = f" · published {safe.html(fact.published_at[:10])}" if fact.published_at else ""
    return (
        f'<div class="ts"><p><b>{safe.html(fact.statement)}</b> <span class="chip {tone}">{mark(fact)}</span></p>'
        f'<div class="quote">{safe.html(fact.quote)}</div>'
        f'<p class="small soft">{safe.link(fact.url, safe.host(fact.url))}{published} · read {words.when(fact.fetched_at)}{opens}</p></div>'
    )
