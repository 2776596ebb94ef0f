"""A collecting run on the screen: the walk as it goes, what it gathered, the digest; the same after a refresh or in a second tab."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import streamlit as st

from agent import collecting
from agent.errors import NotFound
from agent.export import collected
from agent.flows.collect_state import Collect
from agent.types import Status
from agent.wording import counted
from agent.workbench import View
from pages.widgets import (
    answer,
    calls,
    chips,
    collect_items,
    collect_preview,
    collect_tree,
    controls,
    door,
    drafts,
    empty,
    exports,
    facts,
    flowpath,
    following,
    forkbox,
    halted,
    headline,
    journey,
    memo,
    pagemap,
    safe,
    screens,
    sources,
    story,
    unread,
    words,
)

HERE = Path(__file__).parent
EVENTS = 60
"""Lines of the log that are drawn."""
TABS = ("Gathered", "Left out", "Facts", "Map of pages", "Could not read", "Journey", "The way it took", "Model calls")
REST = {
    Status.WAITING: "The path ahead waits for your word.",
    Status.REVIEW: "Read the digest and what was gathered, then accept it or send it back.",
    Status.PAUSED: "It rests where it stood. Resume when you like.",
    Status.STOPPED: "Nothing is lost: go on, or have the digest written from what was found.",
    Status.DONE: "You accepted this.",
}


def draw(run_id: str) -> None:
    """The run, drawn again every second as long as it works."""
    st.html(HERE / "collect.css")
    try:
        view = door.workbench().view(run_id)
    except NotFound:
        _missing(headline.unknown(run_id))
        return
    if not isinstance(view.state, Collect):
        _missing("This run did not collect anything")
        st.page_link(
            screens.of(view.run.settings.flow), label="Open it where it belongs", query_params={"run": run_id}, icon=":material/arrow_forward:"
        )
        return
    drafts.keep()
    following.follow(_live, view)


def _live(run_id: str, moving: bool) -> None:
    view = door.workbench().view(run_id)
    state = view.state
    if moving is not (view.run.status is Status.RUNNING):
        st.rerun()  # it came to rest (or woke up): the timer is set anew, or not at all
    if not isinstance(state, Collect):
        return
    _heading(view, state)
    door.show_notice("collect-run")
    controls.draw(view)
    halted.draw(view)
    st.html(strip(view, state))
    if view.run.status is Status.WAITING:
        collect_preview.draw(view, state)
    if state.answers:
        with st.container(border=True, key="collect-digest"):
            answer.draw(state.answers, state.facts, run_id)
            controls.review(view)
    left, right = st.columns([5, 6], gap="medium")
    with left:
        st.html('<div class="ts"><h2 class="ts-section">The walk</h2></div>')
        working = state.pending.query_or_url if state.pending and moving else ""
        if state.tree:
            st.html(collect_tree.tree(state, working))
        else:
            empty.draw("No page yet", "The start pages appear here as soon as the request has been read.")
    with right:
        _tabs(view, state)


def _heading(view: View, state: Collect) -> None:
    run = view.run
    st.page_link("pages/collect.py", label="Collect something else", icon=":material/add:", query_params={})
    headline.band(run.settings)
    standing = headline.standing(view, halted.rest(view, REST))
    st.html(f'<div class="ts"><h1 class="ts-question">{safe.html(run.question)}</h1>{wanted(state)}{sources.line(run.settings)}{standing}</div>')
    forkbox.origin(view)


def wanted(state: Collect) -> str:
    """What the prompt was understood to ask for, as HTML."""
    if state.intent is None:
        return ""
    intent = state.intent
    told = [(f"about {intent.topic}" if intent.topic else "whatever the start pages hold", "")]
    told += [(f"section: {intent.target_section}", "")] if intent.target_section else []
    told += [(f"last {counted(intent.time_range_days, 'day')}, since {state.since}", "")] if intent.time_range_days else [("any time", "")]
    told += [(f"without: {safe.shorten(refusal, 60)}", "") for refusal in intent.leave_out]
    told += [(f"at most {intent.max_articles}", ""), ("plain way" if not state.settings.collect.use_smart_navigation else "smart navigation", "")]
    return f'<div class="chips">{chips.row(told)}</div>'


def strip(view: View, state: Collect) -> str:
    """The strip of figures, with the targets of one run. No text of the web is in it."""
    usage, limits = view.usage, state.settings.collect
    posts = sum(len(item.posts) for item in state.kept)
    left = sum(item.status == "dropped" for item in state.items.values())
    waiting = f" <small>+ {len(state.unjudged)} to judge</small>" if state.unjudged else ""
    goals = {target["name"]: target for target in collected.targets(usage)}
    figures = [
        ("Gathered", f"{len(state.kept)} <small>of {state.wanted.max_articles}</small>{waiting}"),
        ("Posts", f"{posts}"),
        ("Left out", f"{left}"),
        ("Pages", f"{len(state.actions)} <small>of {limits.max_pages}</small>"),
        ("Confidence", f"{round(state.level * 100)} %"),
        ("Model calls", f"{usage.llm_calls} {_goal(goals['model calls'], f'below {collected.CALLS}')}"),
        ("Working time", f"{words.duration(usage.seconds)} {_goal(goals['seconds'], f'below {collected.SECONDS:g} s')}"),
        ("Cost", f"{words.money(usage.cost_usd if usage.llm_calls else 0.0)} {_goal(goals['US dollars'], f'below ${collected.DOLLARS}')}"),
    ]
    return '<dl class="ts figures">' + "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in figures) + "</dl>"


def _goal(target: dict[str, object], told: str) -> str:
    met = target["met"]
    return f'<small class="{"target-met" if met else "target-missed" if met is False else ""}">{told}</small>'


def _tabs(view: View, state: Collect) -> None:
    """Only the tab that is open is drawn: a poll costs the same however much a run gathered."""
    run_id = view.run.id
    for name, tab in zip(TABS, st.tabs(TABS, key="collect-tab", on_change="rerun"), strict=True):
        if not tab.open:
            continue
        with tab:
            if name == "Gathered":
                _gathered(view, state)
            elif name == "Left out":
                _dropped(state)
            elif name == "Facts":
                facts.draw(list(state.facts.values()), run_id)
            elif name == "Map of pages":
                pagemap.draw(state, run_id)
            elif name == "Could not read":
                unread.draw(view)
            elif name == "Journey":
                st.html(events(state))
                journey.draw(memo.of(view, "cards", lambda: story.cards(view.steps)), run_id, view)
            elif name == "The way it took":
                flowpath.tab(view)
            else:
                calls.draw(run_id)


def _gathered(view: View, state: Collect) -> None:
    if not state.kept:
        if state.answers and view.run.status is not Status.RUNNING:
            empty.draw("Nothing was kept", "The walk, “Left out” and “Could not read” tell why. Send it back with a note, or try another start page.")
        else:
            empty.draw("Nothing is kept yet", "Articles and threads appear here once they are judged to be to the point.")
        return
    found = collecting.collection(door.workbench(), view.run.id)
    _downloads(view)
    st.html(collect_items.gathered(found.items, view.run.id))


def events(state: Collect) -> str:
    """The navigation's log as an HTML table, newest first."""
    rows = "".join(
        f"<tr><td>{event.step}</td><td><code>{event.name}</code></td><td>{safe.link(event.url)}</td><td>{safe.html(event.text)}</td></tr>"
        for event in reversed(state.events[-EVENTS:])
    )
    return f'<div class="ts scroll"><table><tr><th>Step</th><th>Event</th><th>Page</th><th>Why</th></tr>{rows}</table></div>' if rows else ""


def _dropped(state: Collect) -> None:
    left = [item for item in state.items.values() if item.status == "dropped"]
    if left:
        st.html(collect_items.dropped(left))
    else:
        empty.draw("Nothing was left out", "What is too old, off the subject or the same text twice appears here with the reason.")


def _downloads(view: View) -> None:
    """The exports, each written when it is asked for."""
    name, run_id = exports.file_name(view.run.question), view.run.id
    kinds = (("Markdown", "md", "text/markdown", _markdown), ("JSON", "json", "application/json", _json), ("CSV", "csv", "text/csv", _csv))
    with st.container(horizontal=True):
        for label, end, mime, write in kinds:
            st.download_button(
                label, functools.partial(write, run_id), f"{name}.{end}", mime, icon=":material/download:", key=f"collect-{end}", on_click="ignore",
            )  # fmt: skip


def _markdown(run_id: str) -> str:
    return collected.markdown(collecting.collection(door.workbench(), run_id))


def _json(run_id: str) -> str:
    return json.dumps(collected.record(collecting.collection(door.workbench(), run_id)), ensure_ascii=False, indent=1)


def _csv(run_id: str) -> bytes:
    """With a byte order mark, so that a spreadsheet reads the letters right."""
    return collected.table(collecting.collection(door.workbench(), run_id)).encode("utf-8-sig")


def _missing(told: str) -> None:
    headline.missing("run", told, "pages/collect.py", "Collect something")
