"""A collecting run on the screen: the walk as it goes, what it gathered, the digest; the same after a refresh
or in a second tab."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import streamlit as st

from agent import api
from agent.errors import NotFound
from agent.export import collected
from agent.flows.collect.state import CollectRun
from agent.text.plurals import format_count
from agent.types import Status
from agent.workbench import RunSnapshot
from pages.widgets.collect import crawl_tree, preview, results
from pages.widgets.evidence import fact_table, unreadable_pages
from pages.widgets.forms import source_filter_form
from pages.widgets.run import (
    answer_card,
    controls,
    export_menu,
    flow_diagram,
    fork_dialog,
    header,
    model_calls,
    page_graph,
    pause_prompt,
    timeline,
    timeline_cards,
)
from pages.widgets.shell import (
    badges,
    client,
    drafts,
    empty_state,
    escape,
    labels,
    polling,
    routes,
    ui,
    view_cache,
)

HERE = Path(__file__).parent
MAX_EVENTS = 60
"""Lines of the log that are drawn."""
TABS = (
    "Gathered",
    "Left out",
    "Facts",
    "Source graph",
    "Unavailable sources",
    "Journey",
    "Workflow",
    "Model calls",
)
REST_HINTS = {
    Status.WAITING: "The path ahead waits for your word.",
    Status.REVIEW: "Read the digest and what was gathered, then accept it or send it back.",
    Status.PAUSED: "Paused. Resume at any time.",
    Status.STOPPED: "Nothing is lost: go on, or have the digest written from what was found.",
    Status.DONE: "You accepted this.",
}


def draw(run_id: str) -> None:
    """The run, drawn again every second as long as it works."""
    st.html(HERE / "collect.css")
    try:
        view = client.workbench().snapshot(run_id)
    except NotFound:
        _draw_missing(header.describe_unknown_run(run_id))
        return
    if view.run.settings.flow != "collect":
        _draw_missing("This run did not collect anything")
        ui.link(
            routes.page_for_flow(view.run.settings.flow),
            "Open it where it belongs",
            "arrow_forward",
            {"run": run_id},
        )
        return
    drafts.install_script()
    polling.poll_run(_draw_live, view)


def _draw_live(run_id: str, moving: bool) -> None:
    view = client.workbench().snapshot(run_id)
    state = view.state
    if moving is not (view.run.status is Status.RUNNING):
        st.rerun()  # it came to rest (or woke up): the timer is set anew, or not at all
    _draw_heading(view, state)
    client.show_notice("collect-run")
    controls.draw(view)
    pause_prompt.draw(view)
    st.html(render_stats(view, state))
    if view.run.status is Status.WAITING:
        preview.draw(view, state)
    if state.answers:
        with st.container(border=True, key="collect-digest"):
            answer_card.draw(state.answers, state.facts, run_id)
            controls.draw_review(view)
    left, right = st.columns([5, 6], gap="medium")
    with left:
        ui.heading("Crawl path")
        working = state.pending.query_or_url if state.pending and moving else ""
        if state.own.tree:
            st.html(crawl_tree.render(state, working))
        else:
            empty_state.draw(
                "No page yet", "The start pages appear here as soon as the request has been read."
            )
    with right:
        _draw_tabs(view, state)


def _draw_heading(view: RunSnapshot, state: CollectRun) -> None:
    run = view.run
    ui.link("pages/collect.py", "Collect something else", "add", {})
    header.draw_world_band(run.settings)
    standing = header.render_status(view, pause_prompt.build_rest_hints(view, REST_HINTS))
    st.html(
        f'<div class="ts"><h1 class="ts-question">{escape.html(run.question)}</h1>{render_intent(state)}{source_filter_form.render_summary(run.settings)}{standing}</div>'
    )
    fork_dialog.draw_origin(view)


def render_intent(state: CollectRun) -> str:
    """What the prompt was understood to ask for, as HTML."""
    if state.own.intent is None:
        return ""
    intent = state.own.intent
    told = [(f"about {intent.topic}" if intent.topic else "whatever the start pages hold", "")]
    told += [(f"section: {intent.target_section}", "")] if intent.target_section else []
    told += (
        [(f"last {format_count(intent.time_range_days, 'day')}, since {state.own.since(state)}", "")]
        if intent.time_range_days
        else [("any time", "")]
    )
    told += [(f"without: {escape.shorten(refusal, 60)}", "") for refusal in intent.leave_out]
    told += [
        (f"at most {intent.max_articles}", ""),
        ("plain way" if not state.settings.collect.use_smart_navigation else "smart navigation", ""),
    ]
    return f'<div class="chips">{badges.render_row(told)}</div>'


def render_stats(view: RunSnapshot, state: CollectRun) -> str:
    """The strip of figures, with the targets of one run. No text of the web is in it."""
    usage, limits = view.usage, state.settings.collect
    posts = sum(len(item.posts) for item in state.own.kept_items)
    left = sum(item.status == "dropped" for item in state.own.items.values())
    waiting = (
        f" <small>+ {len(state.own.unjudged_items)} to judge</small>" if state.own.unjudged_items else ""
    )
    goals = {target["name"]: target for target in collected.compare_with_targets(usage)}
    figures = [
        (
            "Gathered",
            f"{len(state.own.kept_items)} <small>of {state.own.effective_intent(state).max_articles}</small>{waiting}",
        ),
        ("Posts", f"{posts}"),
        ("Left out", f"{left}"),
        ("Pages", f"{len(state.actions)} <small>of {limits.max_pages}</small>"),
        ("Confidence", f"{round(state.current_confidence * 100)} %"),
        (
            "Model calls",
            f"{usage.llm_calls} {_render_target(goals['model calls'], f'below {collected.TARGET_CALLS}')}",
        ),
        (
            "Working time",
            f"{labels.format_duration(usage.seconds)} {_render_target(goals['seconds'], f'below {collected.TARGET_SECONDS:g} s')}",
        ),
        (
            "Cost",
            f"{labels.format_money(usage.cost_usd if usage.llm_calls else 0.0)} {_render_target(goals['US dollars'], f'below ${collected.TARGET_DOLLARS}')}",
        ),
    ]
    return (
        '<dl class="ts figures">'
        + "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in figures)
        + "</dl>"
    )


def _render_target(target: dict[str, object], told: str) -> str:
    met = target["met"]
    return f'<small class="{"target-met" if met else "target-missed" if met is False else ""}">{told}</small>'


def _draw_tabs(view: RunSnapshot, state: CollectRun) -> None:
    """Only the tab that is open is drawn: a poll costs the same however much a run gathered."""
    run_id = view.run.id
    for name, tab in zip(TABS, st.tabs(TABS, key="collect-tab", on_change="rerun"), strict=True):
        if not tab.open:
            continue
        with tab:
            if name == "Gathered":
                _draw_gathered(view, state)
            elif name == "Left out":
                _draw_dropped(state)
            elif name == "Facts":
                fact_table.draw(list(state.facts.values()), run_id)
            elif name == "Source graph":
                page_graph.draw(state, run_id)
            elif name == "Unavailable sources":
                unreadable_pages.draw(view)
            elif name == "Journey":
                st.html(render_events(state))
                timeline.draw(
                    view_cache.get_or_compute(view, "cards", lambda: timeline_cards.build_cards(view.steps)),
                    run_id,
                    view,
                )
            elif name == "Workflow":
                flow_diagram.draw(view)
            else:
                model_calls.draw(run_id)


def _draw_gathered(view: RunSnapshot, state: CollectRun) -> None:
    if not state.own.kept_items:
        if state.answers and view.run.status is not Status.RUNNING:
            empty_state.draw(
                "Nothing was kept",
                "The crawl path, “Left out” and “Unavailable sources” show why. Send it back with guidance, or try another start page.",
            )
        else:
            empty_state.draw(
                "Nothing is kept yet",
                "Articles and threads appear here once they are judged to be to the point.",
            )
        return
    found = api.build_collection(client.workbench(), view.run.id)
    _draw_downloads(view)
    st.html(results.render_items(found.items, view.run.id))


def render_events(state: CollectRun) -> str:
    """The navigation's log as an HTML table, newest first."""
    rows = "".join(
        f"<tr><td>{event.step}</td><td><code>{event.name}</code></td><td>{escape.render_link(event.url)}</td><td>{escape.html(event.text)}</td></tr>"
        for event in reversed(state.own.events[-MAX_EVENTS:])
    )
    return (
        f'<div class="ts scroll"><table><tr><th>Step</th><th>Event</th><th>Page</th><th>Why</th></tr>{rows}</table></div>'
        if rows
        else ""
    )


def _draw_dropped(state: CollectRun) -> None:
    left = [item for item in state.own.items.values() if item.status == "dropped"]
    if left:
        st.html(results.render_dropped(left))
    else:
        empty_state.draw(
            "Nothing was left out",
            "What is too old, off the subject or the same text twice appears here with the reason.",
        )


def _draw_downloads(view: RunSnapshot) -> None:
    """The exports, each written when it is asked for."""
    name, run_id = export_menu.make_file_name(view.run.question), view.run.id
    kinds = (
        ("Markdown", "md", "text/markdown", _write_markdown),
        ("JSON", "json", "application/json", _write_json),
        ("CSV", "csv", "text/csv", _write_csv),
    )
    with st.container(horizontal=True):
        for label, end, mime, write in kinds:
            st.download_button(
                label,
                functools.partial(write, run_id),
                f"{name}.{end}",
                mime,
                icon=":material/download:",
                key=f"collect-{end}",
                on_click="ignore",
            )


def _write_markdown(run_id: str) -> str:
    return collected.render_collection_markdown(api.build_collection(client.workbench(), run_id))


def _write_json(run_id: str) -> str:
    return json.dumps(
        collected.build_collection_record(api.build_collection(client.workbench(), run_id)),
        ensure_ascii=False,
        indent=1,
    )


def _write_csv(run_id: str) -> bytes:
    """With a byte order mark, so that a spreadsheet reads the letters right."""
    return collected.render_collection_csv(api.build_collection(client.workbench(), run_id)).encode(
        "utf-8-sig"
    )


def _draw_missing(told: str) -> None:
    header.draw_missing("run", told, "pages/collect.py", "Collect something")
