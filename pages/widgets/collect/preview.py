"""The path ahead, shown before it is walked: which pages, why, and what a person says to it."""

from __future__ import annotations

from typing import Any

import streamlit as st

from agent.flows.collect.state import CollectRun
from agent.text.plurals import format_count
from agent.types.collection import CrawlNode
from agent.workbench import RunSnapshot
from pages.widgets.shell import escape, markup, ui

MAX_SHOWN = 30


def draw(view: RunSnapshot, state: CollectRun) -> None:
    """The card. Its answer carries the head of the run as it was seen, so that a second tab cannot answer
    twice."""
    ahead = state.own.frontier(state)
    with st.container(border=True, key="collect-preview"):
        st.html(f'<div class="ts">{render_summary(state, ahead)}</div>')
        key = f"collect-path-{view.head}"
        chosen = {
            branch.id: st.checkbox(_format_label(branch), value=True, key=f"{key}-{branch.id}")
            for branch in ahead[:MAX_SHOWN]
        }
        left = [name for name, wanted in chosen.items() if not wanted]
        if len(ahead) > MAX_SHOWN:
            st.caption(f"and {len(ahead) - MAX_SHOWN} more")
        with st.container(horizontal=True):
            hint = "It shows the next pages again when new ones are found"
            keep: Any = {"given": {"leave_out": left}, "icon": "check", "type": "primary", "help": hint}
            ui.act(view, "approve_path", "collect-approve", "Follow this path", **keep)
            all_of_it = {"leave_out": left, "ask_again": False}
            label = "Follow to the end without asking"
            ui.act(view, "approve_path", "collect-walk", label, icon="fast_forward", given=all_of_it)


def render_summary(state: CollectRun, ahead: list[CrawlNode]) -> str:
    """Where the crawl is: what was decided at the pages these were found on."""
    told = f"Next pages, if you approve: {format_count(len(ahead), 'page')}. Nothing of it has been read yet."
    lines = [markup.paragraph(told)]
    for name in dict.fromkeys(branch.parent for branch in ahead if branch.parent in state.own.tree):
        parent = state.own.tree[name]
        title = escape.html(parent.title or escape.shorten_url(parent.url))
        lines.append(f'<p><b>{title}</b> <span class="soft">{escape.html(parent.reasoning)}</span></p>')
    return "".join(lines)


def _format_label(branch: CrawlNode) -> str:
    about = [branch.detected_date] if branch.detected_date else []
    about += [f"the next page of the {branch.continues}"] if branch.continues else []
    told = f"{branch.anchor or 'page'} ({', '.join(about)})" if about else branch.anchor or "page"
    return escape.md(f"{told}: {escape.shorten_url(branch.url)}", 220)
