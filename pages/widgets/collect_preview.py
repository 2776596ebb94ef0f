"""The path ahead, shown before it is walked: which pages, why, and what a person says to it."""

from __future__ import annotations

import hashlib

import streamlit as st

from agent import collecting
from agent.flows.collect_state import Collect
from agent.types.collected import Branch
from agent.wording import counted
from agent.workbench import View
from pages.widgets import collect_tree, door, safe

SHOWN = 30


def draw(view: View, state: Collect) -> None:
    """The card. Its answer carries the head of the run as it was seen, so that a second tab cannot answer twice."""
    run_id, head, bench = view.run.id, view.head, door.workbench()
    ahead = state.frontier
    with st.container(border=True, key="collect-preview"):
        st.html(f'<div class="ts">{told(state, ahead)}</div>')
        chosen = {branch.id: st.checkbox(_label(branch), value=True, key=_key(head, branch)) for branch in ahead[:SHOWN]}
        left = [name for name, wanted in chosen.items() if not wanted]
        if len(ahead) > SHOWN:
            st.caption(f"and {len(ahead) - SHOWN} more")
        with st.container(horizontal=True):
            st.button(
                "Walk this path", type="primary", icon=":material/check:", key="collect-approve", on_click=_walk,
                args=(bench, run_id, head, left, True), help="It shows the next pages again when new ones are found",
            )  # fmt: skip
            st.button(
                "Walk to the end without asking",
                icon=":material/fast_forward:",
                key="collect-walk",
                on_click=_walk,
                args=(bench, run_id, head, left, False),
            )


def told(state: Collect, ahead: list[Branch]) -> str:
    """Where the walk stands: what was decided at the pages these were found on."""
    parents = dict.fromkeys(branch.parent for branch in ahead if branch.parent in state.tree)
    lines = "".join(
        f"<p><b>{safe.html(parent.title or safe.address(parent.url))}</b>: {safe.html(collect_tree.ACTION.get(parent.action or '', ''))}. "
        f'<span class="soft">{safe.html(parent.reasoning)}</span></p>'
        for parent in (state.tree[name] for name in parents)
    )
    return f'<div class="small soft">The path ahead, if you agree: {counted(len(ahead), "page")}. Nothing of it has been read yet.</div>{lines}'


def _label(branch: Branch) -> str:
    about = [f"relevance {branch.relevance_score:.2f}"] if branch.relevance_score is not None else []
    about += [branch.detected_date] if branch.detected_date else []
    about += [f"the next page of the {branch.continues}"] if branch.continues else []
    told = f"{branch.anchor or 'page'} ({', '.join(about)})" if about else branch.anchor or "page"
    return safe.md(f"{told}: {safe.address(branch.url)}", 220)


def _key(head: int, branch: Branch) -> str:
    return f"collect-path-{head}-{hashlib.sha256(branch.id.encode()).hexdigest()[:10]}"


def _walk(bench: object, run_id: str, head: int, left: list[str], ask_again: bool) -> None:
    door.tell(lambda: collecting.walk(bench, run_id, head, leave_out=left, ask_again=ask_again))  # type: ignore[arg-type]
