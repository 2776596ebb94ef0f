"""The decision that waits for a person: what would be done next and why; approve, change, skip, or end here."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from agent.types import Proposal
from agent.workbench import View
from pages.widgets import chips, door, drafts, safe, words


def draw(view: View, engines: Mapping[str, str]) -> None:
    """The card. Every answer carries the head of the run as it was seen, so that a second tab cannot answer twice."""
    pending = view.state.pending
    if pending is None:
        return
    run_id, head = view.run.id, view.head
    with st.container(border=True, key="research-decision"):
        st.html(told(pending, len(view.state.actions) + 1))
        with st.container(horizontal=True):
            bench = door.workbench()
            seen = (run_id, head)
            st.button("Approve", type="primary", icon=":material/check:", key="research-approve", on_click=door.tell, args=(bench.approve, *seen))
            st.button("Skip, propose another", icon=":material/skip_next:", key="research-skip", on_click=door.tell, args=(bench.skip, *seen))
            with st.popover("Change it", icon=":material/edit:", key="research-change"):
                _change(view, pending, engines)


def told(pending: Proposal, number: int) -> str:
    """The proposal as HTML."""
    what = f"“{safe.html(pending.query_or_url)}”" if pending.query_or_url and pending.next_action != "crawl_url" else safe.link(pending.query_or_url)
    marks = [(f"proposed {words.SPEAKER[pending.by]}", "")]
    if pending.rung:
        marks.append((words.RUNG.get(pending.rung, pending.rung), "warn"))
    trouble = f'<p class="small"><b>Without the model:</b> {safe.html(pending.trouble)}</p>' if pending.trouble else ""
    return (
        f'<div class="ts"><div class="small soft">Next, if you agree (look {number})</div>'
        f"<p><b>{words.ACTION[pending.next_action]}</b>{': ' + what if pending.query_or_url else ''}</p>"
        f'<p class="soft">{safe.html(pending.reasoning)}</p><div class="chips">{chips.row(marks)}</div>{trouble}</div>'
    )


def _change(view: View, pending: Proposal, engines: Mapping[str, str]) -> None:
    """Another action or other words. What is typed survives a refresh."""
    actions = [f"search_{name}" for name in ("duckduckgo", "google") if name in engines] + ["crawl_url", "send_to_hitl"]
    draft, key = f"change:{view.run.id}:{view.head}", f"research-change-text-{view.run.id}-{view.head}"
    start = actions.index(pending.next_action) if pending.next_action in actions else 0
    action = st.selectbox(
        "Do this instead", actions, index=start, key=f"research-change-action-{view.head}",
        format_func=lambda name: words.ACTION[name], filter_mode=None,
    )  # fmt: skip
    if key not in st.session_state:
        st.session_state[key] = door.workbench().draft(draft) or pending.query_or_url
    if action != "send_to_hitl":
        drafts.area("Address of the page" if action == "crawl_url" else "Words to search for", key, draft)
    told = (view.run.id, view.head, action, key)
    st.button("Do this", type="primary", key="research-change-do", icon=":material/arrow_forward:", on_click=_send, args=told)


def _send(run_id: str, head: int, action: str, key: str) -> None:
    door.tell(door.workbench().edit, run_id, head, action, st.session_state.get(key, ""))
