"""The path ahead, shown before it is walked: which pages, why, and what a person says to it."""

from __future__ import annotations

import hashlib

import streamlit as st

from agent import api
from agent.flows.collect.state import CollectRun
from agent.text.plurals import format_count
from agent.types.collection import CrawlNode
from agent.workbench import RunSnapshot, Workbench
from pages.widgets.collect import crawl_tree
from pages.widgets.shell import client, escape, ui

MAX_SHOWN = 30


def draw(view: RunSnapshot, state: CollectRun) -> None:
    """The card. Its answer carries the head of the run as it was seen, so that a second tab cannot answer
    twice."""
    run_id, head, bench = view.run.id, view.head, client.workbench()
    ahead = state.own.frontier(state)
    with st.container(border=True, key="collect-preview"):
        st.html(f'<div class="ts">{render_summary(state, ahead)}</div>')
        chosen = {
            branch.id: st.checkbox(_format_label(branch), value=True, key=_widget_key(head, branch))
            for branch in ahead[:MAX_SHOWN]
        }
        left = [name for name, wanted in chosen.items() if not wanted]
        if len(ahead) > MAX_SHOWN:
            st.caption(f"and {len(ahead) - MAX_SHOWN} more")
        with st.container(horizontal=True):
            ui.button(
                "Follow this path",
                "collect-approve",
                _approve_path,
                bench,
                run_id,
                head,
                left,
                True,
                icon="check",
                type="primary",
                help="It shows the next pages again when new ones are found",
            )
            ui.button(
                "Follow to the end without asking",
                "collect-walk",
                _approve_path,
                bench,
                run_id,
                head,
                left,
                False,
                icon="fast_forward",
            )


def render_summary(state: CollectRun, ahead: list[CrawlNode]) -> str:
    """Where the crawl is: what was decided at the pages these were found on."""
    parents = dict.fromkeys(branch.parent for branch in ahead if branch.parent in state.own.tree)
    lines = "".join(
        f"<p><b>{escape.html(parent.title or escape.shorten_url(parent.url))}</b>: "
        f"{escape.html(crawl_tree.ACTION_LABELS.get(parent.action or '', ''))}. "
        f'<span class="soft">{escape.html(parent.reasoning)}</span></p>'
        for parent in (state.own.tree[name] for name in parents)
    )
    return (
        f'<div class="small soft">Next pages, if you approve: {format_count(len(ahead), "page")}. '
        f"Nothing of it has been read yet.</div>{lines}"
    )


def _format_label(branch: CrawlNode) -> str:
    about = [f"relevance {branch.relevance_score:.2f}"] if branch.relevance_score is not None else []
    about += [branch.detected_date] if branch.detected_date else []
    about += [f"the next page of the {branch.continues}"] if branch.continues else []
    told = f"{branch.anchor or 'page'} ({', '.join(about)})" if about else branch.anchor or "page"
    return escape.md(f"{told}: {escape.shorten_url(branch.url)}", 220)


def _widget_key(head: int, branch: CrawlNode) -> str:
    return f"collect-path-{head}-{hashlib.sha256(branch.id.encode()).hexdigest()[:10]}"


def _approve_path(bench: Workbench, run_id: str, head: int, left: list[str], ask_again: bool) -> None:
    client.submit(lambda: api.approve_path(bench, run_id, head, leave_out=left, ask_again=ask_again))
