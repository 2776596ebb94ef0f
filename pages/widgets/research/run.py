"""One run on the screen: it follows the run while it moves, rests when it rests, and looks the same after a
refresh or in a second tab."""

from __future__ import annotations

import streamlit as st

from agent.errors import NotFound
from agent.text.plurals import format_count
from agent.types import Status
from agent.workbench import RunSnapshot
from pages.widgets.evidence import conflict_list, fact_card, fact_editor, trust_form, unreadable_pages
from pages.widgets.forms import source_filter_form
from pages.widgets.run import (
    answer_card,
    confidence_chart,
    controls,
    flow_diagram,
    fork_dialog,
    header,
    model_calls,
    page_graph,
    pause_prompt,
    pending_decision,
    stats,
    timeline,
    timeline_cards,
)
from pages.widgets.shell import badges, client, drafts, escape, polling, ui, view_cache

TABS = (
    "Facts",
    "Confidence",
    "Sources",
    "Source graph",
    "Unavailable sources",
    "Conflicts",
    "Workflow",
    "Model calls",
)
REST_HINTS = {
    Status.WAITING: "Approve the next step.",
    Status.REVIEW: "Read the answer, check its quotes, then accept it or send it back.",
    Status.PAUSED: "Paused. Resume at any time.",
    Status.STOPPED: "Nothing is lost: continue, or write the answer from what was found.",
    Status.DONE: "You accepted this answer.",
}


def draw(run_id: str) -> None:
    """The run, drawn again every second as long as it works."""
    try:
        view = client.workbench().snapshot(run_id)
    except NotFound:
        header.draw_missing(
            "run", header.describe_unknown_run(run_id), "pages/research.py", "Ask a new question"
        )
        return
    st.set_page_config(page_title=f"{escape.shorten(view.run.question, 50)} · Touchstone")
    drafts.install_script()
    polling.poll_run(_draw_live, view)


def _draw_live(run_id: str, moving: bool) -> None:
    view = client.workbench().snapshot(run_id)
    if moving is not (view.run.status is Status.RUNNING):
        st.rerun()  # it came to rest (or woke up): the timer is set anew, or not at all
    _draw_heading(view)
    client.show_notice("run")
    controls.draw(view)
    stats.draw(view)
    pause_prompt.draw(view)
    if view.run.status is Status.WAITING:
        pending_decision.draw(view, _list_engines(view))
    fact_card.draw(view)
    if view.state.answers:
        with st.container(border=True, key="research-answer"):
            answer_card.draw(view.state.answers, view.state.facts, run_id)
            controls.draw_review(view)
    left, right = st.columns([3, 4], gap="medium")
    with left:
        ui.heading("Journey")
        timeline.draw(
            view_cache.get_or_compute(view, "cards", lambda: timeline_cards.build_cards(view.steps)),
            run_id,
            view,
        )
    with right:
        _draw_tabs(view)


def _draw_heading(view: RunSnapshot) -> None:
    run = view.run
    ui.link("pages/research.py", "New question", "add")
    header.draw_world_band(run.settings)
    standing = header.render_status(
        view, pause_prompt.build_rest_hints(view, REST_HINTS), _render_warnings(view)
    )
    st.html(
        f'<div class="ts"><h1 class="ts-question">{escape.html(run.question)}</h1>{source_filter_form.render_summary(run.settings)}{standing}</div>'
    )
    fork_dialog.draw_origin(view)


def _render_warnings(view: RunSnapshot) -> str:
    """What a person should not miss, whichever tab is open."""
    disputes = sum(conflict.status == "open" for conflict in view.state.conflicts.values())
    unreadable = view_cache.get_or_compute(
        view, "unreadable", lambda: unreadable_pages.count_failed_requests(view.state)
    )
    told = badges.render(format_count(disputes, "open conflict"), "bad") if disputes else ""
    return told + (badges.render(f"{unreadable} could not be read") if unreadable else "")


def _list_engines(view: RunSnapshot) -> dict[str, str]:
    there = (
        client.workbench().active_configuration().engines
        if view.run.settings.world == "live"
        else {"duckduckgo": "the world's own index"}
    )
    return {name: label for name, label in there.items() if name in (view.run.settings.engines or there)}


def _draw_tabs(view: RunSnapshot) -> None:
    """Only the tab that is open is drawn: a poll costs the same however much a run knows."""
    state, run = view.state, view.run
    opened = st.tabs(TABS, key="research-tab", on_change="rerun")
    for name, tab in zip(TABS, opened, strict=True):
        if not tab.open:
            continue
        with tab:
            if name == "Facts":
                fact_editor.draw(view)
            elif name == "Confidence":
                confidence_chart.draw(view)
            elif name == "Sources":
                trust_form.draw_for_run(view)
            elif name == "Source graph":
                page_graph.draw(state, run.id)
            elif name == "Unavailable sources":
                unreadable_pages.draw(view)
            elif name == "Conflicts":
                conflict_list.draw(view)
            elif name == "Workflow":
                flow_diagram.draw(view)
            else:
                model_calls.draw(run.id)
