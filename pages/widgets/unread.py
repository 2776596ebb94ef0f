"""What could not be read, and why: pages, searches, and addresses that our own rules would not follow."""

from __future__ import annotations

import streamlit as st

from agent.flows.state import Research
from agent.types import Outcome
from pages.widgets import empty, safe, words


def count(state: Research) -> int:
    """How many looks brought nothing."""
    return sum(page.outcome is not Outcome.OK for page in state.pages.values()) + sum(
        action.outcome is not Outcome.OK for action in state.actions if action.action != "crawl_url"
    )


def draw(state: Research) -> None:
    """The list, newest first."""
    if not count(state) and not state.refusals:
        empty.draw("Everything asked for could be read", "Pages that block us, time out or cannot be read appear here with the reason.")
        return
    st.html(table(state))


def table(state: Research) -> str:
    """The list as HTML tables."""
    rows = [
        (page.step, "Page", safe.link(page.url), page.outcome, page.detail) for page in state.pages.values() if page.outcome is not Outcome.OK
    ] + [
        (action.step, "Search", f"“{safe.html(action.query_or_url)}”", action.outcome, action.detail)
        for action in state.actions
        if action.action != "crawl_url" and action.outcome is not Outcome.OK
    ]
    body = "".join(
        f'<tr><td>{kind}</td><td>{what}</td><td><span class="chip {"" if outcome is Outcome.EMPTY else "bad"}">{words.OUTCOME[outcome]}</span>'
        f"<br>{safe.html(detail)}</td></tr>"
        for _, kind, what, outcome, detail in sorted(rows, key=lambda row: -row[0])
    )
    failed = f'<div class="scroll"><table><tr><th></th><th>What</th><th>Why</th></tr>{body}</table></div>' if rows else ""
    refused = "".join(f"<tr><td>{safe.html(safe.shorten(r.what, 200))}</td><td>{safe.html(r.why)}</td></tr>" for r in reversed(state.refusals))
    rules = (
        f'<h3 class="ts-section">Proposed, but not followed</h3><div class="scroll"><table><tr><th>What</th><th>Why</th></tr>{refused}</table></div>'
        if refused
        else ""
    )
    return f'<div class="ts">{failed}{rules}</div>'
