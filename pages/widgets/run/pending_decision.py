"""The decision that waits for a person: what would be done next and why; approve, change or skip each action
of a round, or all of it; answer a question."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import streamlit as st

from agent.text.plurals import format_count
from agent.types import ENGINE_NAMES, Proposal, Settings, Status
from agent.workbench import RunSnapshot
from pages.widgets.shell import badges, client, drafts, escape, labels, places, ui


@places.in_place
def draw(view: RunSnapshot, engines: Mapping[str, str]) -> None:
    """The card. Every answer carries the head of the run as it was seen, so that a second tab cannot answer
    twice."""
    pending = view.state.pending
    if pending is None or view.run.status is not Status.WAITING:
        return
    actions, number = pending.actions, len({action.step for action in view.state.actions}) + 1
    with st.container(border=True, key="research-decision"):
        if len(actions) == 1:
            _draw_action(view, pending, 0, engines, f"Next step, if you approve (step {number})")
            return
        left = sum(not action.approved for action in actions)
        st.html(
            f'<div class="ts"><div class="small soft">Next step, if you approve (step {number}): '
            f"{format_count(len(actions), 'action')} side by side, {left} to decide</div></div>"
        )
        with st.container(horizontal=True):
            ui.act(view, "approve", "research-approve", "Approve all", icon="check", type="primary")
            ui.act(view, "skip", "research-skip", "Skip all, propose others", icon="skip_next")
        for n, action in enumerate(actions):
            with st.container(border=True, key=f"research-action-{n}"):
                _draw_action(view, action, n, engines, f"{n + 1} of {len(actions)}")


def _draw_action(view: RunSnapshot, action: Proposal, n: int, engines: Mapping[str, str], title: str) -> None:
    """One action of the round with the ways to decide on it."""
    one = {"icon": "skip_next", "given": {"index": n}}
    alone = view.state.pending is not None and not view.state.pending.beside
    name = "" if alone else f"-{n}"
    st.html(render_proposal(action, title, view.run.settings))
    if action.next_action == "ask":
        _draw_choices(view, action, n)
    with st.container(horizontal=True):
        if action.next_action != "ask" and not action.approved:
            look = {"icon": "check", "type": "primary" if alone else "secondary"}
            ui.act(view, "approve", f"research-approve{name}", **one | look)
        label = "Skip, propose another" if alone else "Skip"
        ui.act(view, "skip", f"research-skip{name}", label, **one)
        if action.next_action != "ask":
            with st.popover("Change it", icon=":material/edit:", key=f"research-change{name}"):
                _draw_change_form(view, action, n, engines)


def render_proposal(pending: Proposal, title: str, settings: Settings) -> str:
    """The proposal as HTML."""
    is_page = pending.next_action in ("crawl_url", "more")
    target = escape.html(pending.query_or_url)
    what = escape.render_link(pending.query_or_url) if is_page else f"“{target}”"
    marks = [(f"proposed {labels.name_actor(pending.by, settings.model)}", "")]
    marks += [("approved", "good")] if pending.approved else []
    if pending.rung:
        marks.append((labels.ESCALATION.get(pending.rung, pending.rung), "warn"))
    action = escape.html(labels.name_action(pending.next_action, settings.world))
    return (
        f'<div class="ts"><div class="small soft">{escape.html(title)}</div>'
        f"<p><b>{action}</b>{': ' + what if pending.query_or_url else ''}</p>"
        f'<p class="soft">{escape.html(pending.reasoning)}</p><div class="chips">'
        f"{badges.render_row(marks)}</div></div>"
    )


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
    change = partial(_submit_change, view, action, draft, n)
    ui.button("Do this", f"research-change-do-{place}", change, icon="arrow_forward", type="primary")


def _submit_change(view: RunSnapshot, action: str, draft: str, n: int) -> None:
    given = {"next_action": action, "query_or_url": drafts.read(draft), "index": n}
    client.act(view.run.id, "edit", view.head, **given)
