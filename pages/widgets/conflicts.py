"""Conflicts as rows: what is said, by which sites, and how it stands. Read-only."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from agent.types import Conflict, Fact, Value
from pages.widgets import chips, empty, safe, words


def draw(conflicts: Sequence[Conflict], facts: dict[str, Fact]) -> None:
    """Each conflict with both sides and the quotes behind them."""
    if not conflicts:
        empty.draw("No conflicts found", "When two sources say different things about the same matter, both appear here side by side.")
        return
    st.html('<div class="ts">' + "".join(block(conflict, facts) for conflict in conflicts) + "</div>")


def block(conflict: Conflict, facts: dict[str, Fact]) -> str:
    """One conflict as HTML."""
    chip = chips.one("open: kept out of the plain claims", "bad") if conflict.status == "open" else chips.one("settled", "good")
    reason = f'<p class="small">{safe.html(conflict.reason)}</p>' if conflict.reason else ""
    rows = "".join(_side(value, [facts[i] for i in value.fact_ids if i in facts], chosen=value.text == conflict.chosen) for value in conflict.values)
    title = " · ".join(part for part in (conflict.subject, conflict.attribute) if part)
    table = f'<div class="scroll"><table><tr><th>Value</th><th>Said by</th></tr>{rows}</table></div>'
    return f"<p><b>{safe.html(title)}</b> {chip}</p>{reason}{table}<br>"


def _side(value: Value, behind: list[Fact], *, chosen: bool) -> str:
    mark = f" {chips.one('taken', 'good')}" if chosen else ""
    quotes = "".join(f'<div class="quote small">{safe.html(fact.quote)}</div>' for fact in behind[:3])
    said = f"<details><summary>{safe.html(', '.join(value.sites) or words.count(len(behind), 'fact'))}</summary>{quotes}</details>"
    return f"<tr><td><b>{safe.html(value.text)}</b>{mark}</td><td>{said}</td></tr>"
