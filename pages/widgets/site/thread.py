"""A conversation with a site on the screen: its turns, the newest one followed while it works, what was read
for it, a box to ask on."""

from __future__ import annotations

import streamlit as st

from agent.errors import NotFound
from agent.flows.site.state import SiteRun
from agent.text.plurals import format_count
from agent.types import Answer, Status
from agent.workbench import RunSnapshot
from pages.widgets.evidence import fact_card, fact_editor, unreadable_pages
from pages.widgets.forms import source_filter_form
from pages.widgets.run import (
    answer_card,
    controls,
    flow_diagram,
    fork_dialog,
    header,
    model_calls,
    page_graph,
    pause_prompt,
)
from pages.widgets.shell import badges, client, drafts, escape, labels, polling, routes, ui
from pages.widgets.site import trace

TABS = (
    "Decisions",
    "Pages read",
    "Source graph",
    "Facts",
    "Unavailable sources",
    "Workflow",
    "Model calls",
)
FOLLOW_UP_KEY, FOLLOW_UP_DRAFT = "site-follow-up", "site:follow-up"
REST_HINTS = {
    Status.REVIEW: "Check the quotes, accept the answer, or ask a follow-up.",
    Status.PAUSED: "Paused. Resume at any time.",
    Status.STOPPED: "Nothing is lost: continue, or write the answer from what was found.",
    Status.DONE: "You accepted this answer.",
}


def draw(run_id: str) -> None:
    """The conversation that a run belongs to; its newest turn is drawn again every second as long as it
    works."""
    bench = client.workbench()
    try:
        view = bench.snapshot(run_id)
    except NotFound:
        _draw_missing(header.describe_unknown_run(run_id))
        return
    if view.run.settings.flow != "site":
        _draw_missing("This run did not ask a site")
        place = routes.page_for_flow(view.run.settings.flow)
        ui.link(place, "Open it where it belongs", "arrow_forward", {"run": run_id})
        return
    drafts.install_script()
    turns = bench.thread(run_id) or [run_id]
    newest = bench.snapshot(turns[-1])
    _draw_heading(newest)
    for earlier in turns[:-1]:
        _draw_turn(bench.snapshot(earlier))
    polling.poll_run(_draw_live, newest)
    _draw_follow_up(newest)


def _draw_heading(view: RunSnapshot) -> None:
    settings = view.run.settings
    ui.link("pages/site.py", "Ask another site", "add", {})
    header.draw_world_band(settings)
    sites = ", ".join(dict.fromkeys(escape.host(url) for url in settings.start_urls))
    inside = ", ".join(settings.allowed_domains) or "every domain"
    told = f" · {escape.html(settings.instruction)}" if settings.instruction else ""
    st.html(
        f'<div class="ts"><h1 class="ts-question">{escape.html(sites)}</h1><p class="small soft">Reads inside {escape.html(inside)}{told}</p>'
        f"{source_filter_form.render_summary(settings, allowed=False)}</div>"
    )


def _draw_turn(view: RunSnapshot) -> None:
    """An earlier turn: the question and what was answered, its quotes a click away."""
    with st.container(border=True, key=f"site-turn-{view.run.id}"):
        st.html(render_question(view))
        if view.state.answers:
            st.html(render_answer(view.state.answers[-1], view))
        else:
            st.html(
                f'<div class="ts soft">{escape.html(labels.STATUS[view.run.status])}: there is no answer to this one.</div>'
            )


def _draw_live(run_id: str, moving: bool) -> None:
    view = client.workbench().snapshot(run_id)
    state = view.state
    if moving is not (view.run.status is Status.RUNNING):
        st.rerun()  # it came to rest (or woke up): the timer is set anew, or not at all
    with st.container(border=True, key="site-newest"):
        st.html(render_question(view))
        fork_dialog.draw_origin(view)
        st.html(render_status(view))
        client.show_notice("site-talk")
        controls.draw(view)
        pause_prompt.draw(view)
        fact_card.draw(view)
        if state.answers:
            st.html(render_answer(state.answers[-1], view, newest=True))
            answer_card.draw_changes(state.answers)
            if not state.answers[-1].is_small_talk:
                controls.draw_review(view)
        if not moving:
            fork_dialog.draw_menu(view)
    opened = st.tabs(TABS, key="site-tab", on_change="rerun")
    for name, tab in zip(TABS, opened, strict=True):
        if tab.open:
            with tab:
                _draw_tab(name, view, state)


def _draw_tab(name: str, view: RunSnapshot, state: SiteRun) -> None:
    if name == "Decisions":
        st.html(trace.render_decisions(state, view.run.id))
    elif name == "Pages read":
        st.html(trace.render_pages(state, view.run.id))
    elif name == "Source graph":
        page_graph.draw(state, view.run.id)
    elif name == "Facts":
        fact_editor.draw(view)
    elif name == "Unavailable sources":
        unreadable_pages.draw(view)
    elif name == "Workflow":
        flow_diagram.draw(view)
    else:
        model_calls.draw(view.run.id)


def render_question(view: RunSnapshot) -> str:
    """The question of a turn as HTML, with what it was read as when the conversation added to it."""
    state = view.state
    note = (
        f'<p class="small soft">Read as: {escape.html(state.standalone_question)}</p>'
        if state.standalone_question
        else ""
    )
    return f'<div class="ts"><h2 class="ts-section turn">{escape.html(view.run.question)}</h2>{note}</div>'


def render_answer(given: Answer, view: RunSnapshot, *, newest: bool = False) -> str:
    """An answer as its card, that of the newest turn with a way to its facts; a refusal in its own polite
    words."""
    if given.sentences:
        return answer_card.render(given, view.state.facts, view.run.id, editable=newest)
    if given.is_small_talk:
        return f'<div class="ts"><div class="answer">{escape.html(given.certainty)}</div></div>'
    kind = labels.REFUSAL.get(given.reason, labels.VERDICT[given.verdict])
    missing = "".join(
        f'<p class="small soft">{escape.html(text)}</p>'
        for text in (given.remark, given.because, given.journey)
        if text
    )
    return f'<div class="ts"><div class="chips">{badges.render(kind, "mute")}</div><div class="answer">{escape.html(given.certainty)}</div>{missing}</div>'


def render_status(view: RunSnapshot) -> str:
    """How the newest turn stands, as HTML."""
    state = view.state
    known = len(state.own.all_discovered_urls) - len(state.own.visited_urls)
    read = badges.render(format_count(state.pages_read_count, "page") + " read") + (
        badges.render(f"{known:,} addresses not read") if known else ""
    )
    polite = bool(state.answers) and state.answers[-1].is_small_talk
    rest = {
        **pause_prompt.build_rest_hints(view, REST_HINTS),
        **({Status.DONE: "Ask a follow-up at any time."} if polite else {}),
    }
    return f'<div class="ts">{header.render_status(view, rest, read)}</div>'


def _draw_follow_up(view: RunSnapshot) -> None:
    """The box for a further question; it waits while an answer is on its way."""
    busy = view.run.status in (Status.RUNNING, Status.PAUSED)
    with st.container(key="site-ask-on"):
        drafts.text_area(
            "Ask a follow-up",
            FOLLOW_UP_KEY,
            FOLLOW_UP_DRAFT,
            placeholder="e.g. And for international orders?",
            height=80,
        )
        ui.button(
            "Ask",
            "site-follow",
            _send_follow_up,
            view.run.id,
            icon="forum",
            type="primary",
            disabled=busy,
            help="The previous answer is still being written" if busy else None,
        )


def _send_follow_up(run_id: str) -> None:
    def opened(new: str) -> None:
        st.query_params["run"] = new
        drafts.clear(FOLLOW_UP_KEY, FOLLOW_UP_DRAFT)

    client.submit(
        client.workbench().follow_up, run_id, st.session_state.get(FOLLOW_UP_KEY) or "", then=opened
    )


def _draw_missing(told: str) -> None:
    header.draw_missing("conversation", told, "pages/site.py", "Ask a site")
