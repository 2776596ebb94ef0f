"""What the screens of a run share: opening, following, heading, tabs, and a page for no such run."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import streamlit as st

from agent.actions.new_since import NewSince
from agent.errors import NotFound
from agent.types import Status
from agent.workbench import RunSnapshot
from pages.widgets.evidence import sources, unreadable_pages
from pages.widgets.forms import source_filter_form
from pages.widgets.run import (
    answer_pane,
    confidence_chart,
    evidence_pane,
    fork_dialog,
    model_calls,
    page_graph,
    pause_prompt,
    status_line,
    timeline,
)
from pages.widgets.shell import badges, client, empty_state, escape, labels, polling, routes, ui, view_cache

Tab = Callable[[RunSnapshot], None]
TITLE_MARKS = {Status.REVIEW: "✓ ", Status.WAITING: "? ", Status.PAUSED: "? ", Status.FAILED: "✗ "}
"""What the title of the tab begins with when a person is wanted."""


@dataclass(frozen=True)
class RunPage:
    """The screen of the runs of a flow."""

    flow: str
    noun: str
    new_label: str
    hints: Mapping[Status, str] = field(default_factory=dict)
    """What is expected of the reader at each status."""
    missing_hint: str = "It may have been started on another computer or with another data folder."
    """Why there may be no such run."""

    @property
    def path(self) -> str:
        """The file of the screen."""
        return routes.page_for_flow(self.flow)


def open_run(page: RunPage, run_id: str) -> RunSnapshot | None:
    """The run, ready to be drawn, on its own screen; None when there is none, which is then said."""
    try:
        view = client.workbench().snapshot(run_id)
    except NotFound:
        text = f"There is no run called {escape.shorten(run_id, 40)}"
        draw_missing(page.noun, text, page.path, page.new_label, page.missing_hint)
        return None
    if (place := routes.page_for_flow(view.run.settings.flow)) != page.path:
        st.switch_page(place, query_params={"run": run_id})
    mark = TITLE_MARKS.get(view.run.status, "")
    st.set_page_config(page_title=f"{mark}{escape.shorten(view.run.question, 50)} · Touchstone")
    return view


def draw(page: RunPage, draw_live: Callable[[RunSnapshot], None], run_id: str) -> None:
    """The run, drawn again and again as long as it works."""
    if view := open_run(page, run_id):
        follow(draw_live, view)


def open_thread(page: RunPage, run_id: str) -> tuple[list[str], RunSnapshot] | None:
    """The turns of the conversation a run belongs to, and the newest of them; None as for `open_run`."""
    if open_run(page, run_id) is None:
        return None
    turns = client.workbench().thread(run_id) or [run_id]
    return turns, client.workbench().snapshot(turns[-1])


def follow(draw_live: Callable[[RunSnapshot], None], view: RunSnapshot) -> None:
    """Draw a run again and again as long as it works; at rest, when another tab wakes it."""
    polling.follow(
        lambda: client.workbench().snapshot(view.run.id),
        lambda now: now.run.status is Status.RUNNING,
        draw_live,
        view,
        polling.STEP_POLL_S if view.run.settings.stop_point == "step" else polling.POLL_S,
    )
    if view.run.status in polling.IDLE_STATUSES:
        polling.watch(view)


def draw_heading(page: RunPage, view: RunSnapshot, detail: str = "") -> None:
    """The question, its sources, and how the run stands; `detail` is HTML."""
    run = view.run
    hints = pause_prompt.build_rest_hints(view, page.hints)
    sources = source_filter_form.render_summary(run.settings)
    title = f'<h1 class="ts-question" title="{escape.html(run.question)}">{escape.html(run.question)}</h1>'
    with st.container(horizontal=True, key="run-head"):
        st.html(f'<div class="ts">{title}{detail}{sources}</div>', width="stretch")
        ui.link(page.path, page.new_label, "add", {})
    status_line.draw(view, hints)
    fork_dialog.draw_origin(view)
    if view.state.follows and view.state.answers:  # of a schedule
        told, items = find_new(view), ""
        for one in told.facts:
            was = f"<del>{escape.html(one.was)}</del> " if one.was else ""
            quote = f" “{escape.html(one.quote)}”" if one.quote != one.statement else ""
            said = f"{badges.render(one.kind.capitalize())} {was}{escape.html(one.statement)}"
            page = f'<span class="small soft">{quote} {escape.render_link(one.url, one.title)}</span>'
            css = {"new": "added", "changed": "reworded", "gone": "removed"}[one.kind]
            items += f'<li class="{css}">{said}{page}</li>'
        if items:
            since = f"Facts: {told.summary} since {labels.format_time(told.since_at)}"
            listed = f'<summary>{since}</summary><ul class="changes">{items}</ul>'
            st.html(f'<div class="ts"><details class="journey">{listed}</details></div>')


def find_new(view: RunSnapshot) -> NewSince:
    """What is new in a run since the one before it of its schedule."""
    make: Callable[[], NewSince] = functools.partial(client.workbench().new_since, view.run.id)
    return view_cache.get_or_compute(view, "new-since", make)


def draw_panes(
    view: RunSnapshot,
    draw_answer: Callable[[], None],
    tabs: Mapping[str, Tab],
    key: str,
    draw_opened: Callable[[str], bool] | None = None,
) -> None:
    """The answer on the left and its evidence on the right; on a narrow window one of them and a switch."""
    answer_pane.draw_switch()
    with st.container(key="panes"):
        left, right = st.columns([7, 5], gap="large")
    with left, st.container(key="pane-answer"):
        draw_answer()
    with right:
        evidence_pane.draw(view, tabs, key, draw_opened)


def draw_sources(view: RunSnapshot) -> None:
    """The sites of a run, what could not be read, and the graph of its pages."""
    sources.draw(view)
    _draw_folded(view, "Unavailable sources", "link_off", unreadable_pages.draw)
    _draw_folded(view, "Source graph", "hub", page_graph.draw)


def draw_activity(view: RunSnapshot) -> None:
    """What a run did, how its confidence moved, and what its model was asked."""
    timeline.draw_run(view)
    if view.state.shown_confidence is not None:
        _draw_folded(view, "Confidence", "show_chart", confidence_chart.draw)
    _draw_folded(view, "Model calls", "smart_toy", model_calls.draw)


def _draw_folded(view: RunSnapshot, title: str, icon: str, draw: Tab) -> None:
    """What is drawn only where somebody opens it."""
    key = f"folded-{title.lower().replace(' ', '-')}"
    with st.expander(title, icon=ui.icon_code(icon), key=key, on_change="rerun") as folded:
        if folded.open:
            draw(view)


def draw_missing(noun: str, text: str, screen: str, label: str, hint: str = RunPage.missing_hint) -> None:
    """There is no such run (or conversation: `noun`); `screen` with its `label` is where to go instead."""
    st.title(f"No such {noun}")
    empty_state.draw(text, hint)
    with st.container(horizontal=True):
        ui.link(screen, label, "add")
        ui.link("pages/runs.py", "See all runs", "history")
