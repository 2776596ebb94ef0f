"""Conflicts as rows: what is said, by which sites, and how it stands. Read-only."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from agent.types import Conflict, Fact
from pages.widgets import empty, safe, words


def draw(conflicts: Sequence[Conflict], facts: dict[str, Fact]) -> None:
    """Each conflict with both sides and the quotes behind them."""
    if not conflicts:
        empty.draw("No conflicts found", "When two sources say different things about the same matter, both appear here side by side.")
        return
    st.html('<div class="ts">' + "".join(block(conflict, facts) for conflict in conflicts) + "</div>")


def block(conflict: Conflict, facts: dict[str, Fact]) -> str:
    """One conflict as HTML."""
    chip = '<span class="chip bad">open: kept out of the answer’s plain claims</span>' if conflict.status == "open" else '<span class="chip good">settled</span>'
    reason = f'<p class="small">{safe.html(conflict.reason)}</p>' if conflict.reason else ""
    rows = "".join(_side(value.text, value.sites, [facts[i] for i in value.fact_ids if i in facts], value.text == conflict.chosen) for value in conflict.values)
    title = " · ".join(part for part in (conflict.subject, conflict.attribute) if part)
    return f'<p><b>{safe.html(title)}</b> {chip}</p>{reason}<div class="scroll"><table><tr><th>Value</th><th>Said by</th></tr>{rows}</table></div><br>'


def _side(text: str, sites: list[str], behind: list[Fact], chosen: bool) -> str:
    mark = ' <span class="chip good">taken</span>' if chosen else ""
    quotes = "".join(f'<div class="quote small">{safe.html(fact.quote)}</div>' for fact in behind[:3])
    said = f"<details><summary>{safe.html(', '.join(sites) or words.count(len(behind), 'fact'))}</summary>{quotes}</details>"
    return f"<tr><td><b>{safe.html(text)}</b>{mark}</td><td>{said}</td></tr>"
