"""The decision that waits for a person: what would be done next and why; approve, change or skip each action
of a round, or all of it; answer a question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from agent.text.plurals import format_count
from agent.types import ENGINE_NAMES, Proposal, Status
from agent.workbench import RunSnapshot
from pages.widgets.shell import badges, client, drafts, escape, labels, places, ui


@places.in_place
def draw(view: RunSnapshot, engines: Mapping[str, str]) -> None:
    """The card. Every answer carries the head of the run as it was seen, so that a second tab cannot answer
    twice."""
    pending = view.state.pending
    if pending is None or view.run.status is not Status.WAITING:
        return
    left = [action for action in pending.actions if not action.approved]
    many = len(pending.actions) > 1
    with st.container(border=True, key="research-decision", gap="small"):
        with st.container(horizontal=True, vertical_alignment="center", key="research-decision-head"):
            what = format_count(len(left), "action") + " side by side" if many else "Next step"
            st.html(f'<div class="ts"><b>{what}</b></div>')
            if pending.next_action != "ask" or many:
                label = "Approve all" if many else "Approve"
                look: Any = {"icon": "check", "type": "primary", "shortcut": "Enter"}
                ui.act(view, "approve", "research-approve", label, **look)
            label = "Skip all, propose others" if many else "Skip, propose another"
            ui.act(view, "skip", "research-skip", label, icon="skip_next")
        for n, action in enumerate(pending.actions):
            _draw_action(view, action, n, engines, many=many)


def _draw_action(
    view: RunSnapshot, action: Proposal, n: int, engines: Mapping[str, str], *, many: bool
) -> None:
    """One action of a round, with the ways to decide on it alone."""
    with st.container(key=f"research-action-{n}", gap="small"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.html(render_proposal(view, action), width="stretch")
            one: Any = {"given": {"index": n}, "type": "tertiary"}
            if many and action.next_action != "ask" and not action.approved:
                ui.act(view, "approve", f"research-approve-{n}", icon="check", help="Approve it", **one)
            if many:
                ui.act(view, "skip", f"research-skip-{n}", icon="skip_next", help="Skip it", **one)
            if action.next_action != "ask":
                look: Any = {"icon": ":material/edit:", "type": "tertiary", "help": "Do something else"}
                with st.popover("Change it", key=f"research-change-{n}", **look):
                    _draw_change_form(view, action, n, engines)
        if action.next_action == "ask":
            _draw_choices(view, action, n)


def render_proposal(view: RunSnapshot, pending: Proposal) -> str:
    """What would be done, and why, as HTML."""
    target = escape.html(pending.query_or_url)
    action = escape.html(labels.name_action(pending.next_action, view.run.settings.world))
    if pending.next_action in ("crawl_url", "more"):
        found = view.state.own.leads.values()
        text = next((lead.text for lead in found if lead.value == pending.query_or_url), "")
        name = text.split(". ")[0] or escape.shorten_url(pending.query_or_url)  # its title, then words of it
        site = f'<span class="soft">{escape.html(escape.host(pending.query_or_url))}</span>'
        what = f"{escape.render_link(pending.query_or_url, escape.shorten(name, 90))} {site}"
    else:
        what = f"“{target}”" if target else ""
    done = f" {badges.render('approved', 'good')}" if pending.approved else ""
    asked = next((part.question for part in view.state.plan if part.id == pending.part), "")
    is_named = asked and len(view.state.plan) > 1
    part = f"for part {pending.part}, “{escape.shorten(asked, 60)}”" if is_named else ""
    why = escape.html(" · ".join(filter(None, (part, pending.reasoning))))
    told = f'<b>{action}</b>{": " + what if what else ""}{done}<div class="soft small">{why}</div>'
    return f'<div class="ts proposal">{told}</div>'


def _draw_choices(view: RunSnapshot, action: Proposal, n: int) -> None:
    """The answers to a question of the run, and a field for another."""
    draft = f"answer:{view.run.id}:{view.head}:{n}"
    with st.container(horizontal=True):
        for k, choice in enumerate(action.choices[:4]):
            label = escape.shorten(choice, 80)
            given = {"index": n, "text": choice}
            ui.act(view, "answer", f"research-choice-{n}-{k}", label, given=given)
    drafts.text_area("Or in your words", draft, height=68)

    def answer() -> None:
        client.act(view.run.id, "answer", view.head, index=n, text=drafts.read(draft))

    ui.button("Answer", f"research-answer-{n}", answer, icon="reply")


def _draw_change_form(view: RunSnapshot, pending: Proposal, n: int, engines: Mapping[str, str]) -> None:
    """Another action or other words. What is typed survives a refresh."""
    searches = [f"search_{name}" for name in ENGINE_NAMES if name in engines]
    world = view.run.settings.world
    names = {name: labels.name_action(name, world) for name in (*searches, "crawl_url", "send_to_hitl")}
    start = list(names).index(pending.next_action) if pending.next_action in names else 0
    place = f"{view.head}-{n}"
    action = ui.select("Do this instead", names, f"research-change-action-{place}", index=start)
    is_page, was_page = action == "crawl_url", pending.next_action in ("crawl_url", "more")
    draft = f"change:{view.run.id}:{view.head}:{n}:{'page' if is_page else 'words'}"
    if action != "send_to_hitl":
        other = "" if is_page else view.run.question
        label = "Address of the page" if is_page else "Words to search for"
        drafts.text_area(label, draft, given=pending.query_or_url if is_page == was_page else other)

    def _change() -> None:
        given = {"next_action": action, "query_or_url": drafts.read(draft), "index": n}
        client.act(view.run.id, "edit", view.head, **given)

    ui.button("Do this", f"research-change-do-{place}", _change, icon="arrow_forward", type="primary")
