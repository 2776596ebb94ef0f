"""The decision that waits for a person: what would be done next and why; approve, change, skip, or end
here."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from agent.types import ENGINE_NAMES, Proposal
from agent.workbench import RunSnapshot
from pages.widgets.shell import badges, client, drafts, escape, labels, ui


def draw(view: RunSnapshot, engines: Mapping[str, str]) -> None:
    """The card. Every answer carries the head of the run as it was seen, so that a second tab cannot answer
    twice."""
    pending = view.state.pending
    if pending is None:
        return
    run_id, head = view.run.id, view.head
    with st.container(border=True, key="research-decision"):
        st.html(render_proposal(pending, len(view.state.actions) + 1))
        with st.container(horizontal=True):
            bench = client.workbench()
            seen = (run_id, head)
            ui.action("Approve", "research-approve", bench.approve, *seen, icon="check", type="primary")
            ui.action("Skip, propose another", "research-skip", bench.skip, *seen, icon="skip_next")
            with st.popover("Change it", icon=":material/edit:", key="research-change"):
                _draw_change_form(view, pending, engines)


def render_proposal(pending: Proposal, number: int) -> str:
    """The proposal as HTML."""
    what = (
        f"“{escape.html(pending.query_or_url)}”"
        if pending.query_or_url and pending.next_action != "crawl_url"
        else escape.render_link(pending.query_or_url)
    )
    marks = [(f"proposed {labels.ACTOR[pending.by]}", "")]
    if pending.rung:
        marks.append((labels.ESCALATION.get(pending.rung, pending.rung), "warn"))
    trouble = (
        f'<p class="small"><b>Without the model:</b> {escape.html(pending.trouble)}</p>'
        if pending.trouble
        else ""
    )
    return (
        f'<div class="ts"><div class="small soft">Next step, if you approve (step {number})</div>'
        f"<p><b>{labels.ACTION[pending.next_action]}</b>{': ' + what if pending.query_or_url else ''}</p>"
        f'<p class="soft">{escape.html(pending.reasoning)}</p><div class="chips">'
        f"{badges.render_row(marks)}</div>{trouble}</div>"
    )


def _draw_change_form(view: RunSnapshot, pending: Proposal, engines: Mapping[str, str]) -> None:
    """Another action or other words. What is typed survives a refresh."""
    searches = [f"search_{name}" for name in ENGINE_NAMES if name in engines]
    names = {name: labels.ACTION[name] for name in (*searches, "crawl_url", "send_to_hitl")}
    start = list(names).index(pending.next_action) if pending.next_action in names else 0
    action = ui.select("Do this instead", names, f"research-change-action-{view.head}", index=start)
    draft = f"change:{view.run.id}:{view.head}"
    if action != "send_to_hitl":
        label = "Address of the page" if action == "crawl_url" else "Words to search for"
        drafts.text_area(label, draft, given=pending.query_or_url)
    ui.button(
        "Do this",
        "research-change-do",
        _submit_change,
        view,
        action,
        draft,
        icon="arrow_forward",
        type="primary",
    )


def _submit_change(view: RunSnapshot, action: str, draft: str) -> None:
    client.submit(client.workbench().edit, view.run.id, view.head, action, drafts.read(draft))
