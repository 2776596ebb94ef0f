"""One run on the screen: it follows the run while it moves, rests when it rests, and looks the same after a refresh or in a second tab."""

from __future__ import annotations

import streamlit as st

from agent.errors import NotFound
from agent.types import Status
from agent.wording import counted
from agent.workbench import View
from pages.widgets import (
    answer,
    calls,
    chips,
    conflicts,
    controls,
    curve,
    decision,
    door,
    drafts,
    fact_card,
    figures,
    flowpath,
    following,
    forkbox,
    halted,
    headline,
    journey,
    ledger,
    memo,
    pagemap,
    safe,
    sources,
    story,
    trusts,
    unread,
)

TABS = ("Facts", "Confidence", "Sources", "Map of pages", "Could not read", "Conflicts", "The way it took", "Model calls")
REST = {
    Status.WAITING: "A decision waits for your word.",
    Status.REVIEW: "Read the answer, check its quotes, then accept it or send it back.",
    Status.PAUSED: "It rests where it stood. Resume when you like.",
    Status.STOPPED: "Nothing is lost: go on, or have the answer written from what was found.",
    Status.DONE: "You accepted this answer.",
}


def draw(run_id: str) -> None:
    """The run, drawn again every second as long as it works."""
    try:
        view = door.workbench().view(run_id)
    except NotFound:
        headline.missing("run", headline.unknown(run_id), "pages/research.py", "Ask a new question")
        return
    st.set_page_config(page_title=f"{safe.shorten(view.run.question, 50)} · Touchstone")
    drafts.keep()
    following.follow(_live, view)


def _live(run_id: str, moving: bool) -> None:
    view = door.workbench().view(run_id)
    if moving is not (view.run.status is Status.RUNNING):
        st.rerun()  # it came to rest (or woke up): the timer is set anew, or not at all
    _heading(view)
    door.show_notice("run")
    controls.draw(view)
    figures.draw(view)
    halted.draw(view)
    if view.run.status is Status.WAITING:
        decision.draw(view, _engines(view))
    fact_card.draw(view)
    if view.state.answers:
        with st.container(border=True, key="research-answer"):
            answer.draw(view.state.answers, view.state.facts, run_id)
            controls.review(view)
    left, right = st.columns([3, 4], gap="medium")
    with left:
        st.html('<div class="ts"><h2 class="ts-section">Journey</h2></div>')
        journey.draw(memo.of(view, "cards", lambda: story.cards(view.steps)), run_id, view)
    with right:
        _tabs(view)


def _heading(view: View) -> None:
    run = view.run
    st.page_link("pages/research.py", label="New question", icon=":material/add:")
    headline.band(run.settings)
    standing = headline.standing(view, halted.rest(view, REST), _troubles(view))
    st.html(f'<div class="ts"><h1 class="ts-question">{safe.html(run.question)}</h1>{sources.line(run.settings)}{standing}</div>')
    forkbox.origin(view)


def _troubles(view: View) -> str:
    """What a person should not miss, whichever tab is open."""
    disputes = sum(conflict.status == "open" for conflict in view.state.conflicts.values())
    unreadable = memo.of(view, "unreadable", lambda: unread.count(view.state))
    told = chips.one(counted(disputes, "open conflict"), "bad") if disputes else ""
    return told + (chips.one(f"{unreadable} could not be read") if unreadable else "")


def _engines(view: View) -> dict[str, str]:
    there = door.workbench().active().engines if view.run.settings.world == "live" else {"duckduckgo": "the world's own index"}
    return {name: label for name, label in there.items() if name in (view.run.settings.engines or there)}


def _tabs(view: View) -> None:
    """Only the tab that is open is drawn: a poll costs the same however much a run knows."""
    state, run = view.state, view.run
    opened = st.tabs(TABS, key="research-tab", on_change="rerun")
    for name, tab in zip(TABS, opened, strict=True):
        if not tab.open:
            continue
        with tab:
            if name == "Facts":
                ledger.draw(view)
            elif name == "Confidence":
                curve.draw(view)
            elif name == "Sources":
                trusts.sources(view)
            elif name == "Map of pages":
                pagemap.draw(state, run.id)
            elif name == "Could not read":
                unread.draw(view)
            elif name == "Conflicts":
                conflicts.draw(view)
            elif name == "The way it took":
                flowpath.tab(view)
            else:
                calls.draw(run.id)

