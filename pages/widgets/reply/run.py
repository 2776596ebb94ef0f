"""One reply on the screen: what may be posted or why nothing is said, the conversation, each step with its
reason, the picture of the way."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from agent.errors import NotFound
from agent.flows.reply.state import ReplyRun
from agent.text.plurals import format_count
from agent.types import Status
from agent.workbench import RunSnapshot
from pages.widgets.evidence import fact_table
from pages.widgets.reply import bot_services, steps
from pages.widgets.run import answer_card, flow_diagram, model_calls, transcript
from pages.widgets.shell import badges, client, empty_state, escape, labels, polling, routes, ui

HERE = Path(__file__).parent.parent / "shell"
TABS = ("Workflow", "Quotes", "Facts", "Model calls")


def draw(run_id: str) -> None:
    """The run, drawn again every second while it works."""
    st.html(HERE / "talk.css")
    try:
        view = client.workbench().snapshot(run_id)
    except NotFound:
        _draw_missing(f"There is no run called {escape.shorten(run_id, 40)}")
        return
    if view.run.settings.flow != "reply":
        _draw_missing("This run is no reply")
        place = routes.page_for_flow(view.run.settings.flow)
        ui.link(place, "Open it where it belongs", "arrow_forward", {"run": run_id})
        return
    st.set_page_config(page_title=f"{escape.shorten(view.run.question, 50)} · Touchstone")
    polling.poll_run(_draw_live, view)


def _draw_live(run_id: str, moving: bool) -> None:
    view = client.workbench().snapshot(run_id)
    state = view.state
    if moving is not (view.run.status is Status.RUNNING):
        st.rerun()  # it came to rest: the timer is not set again
    ui.link("pages/reply.py", "Another conversation", "add", {})
    if bot_services.is_demo(state.own.context):
        st.html(
            '<div class="ts band" role="note"><b>The demo knowledge base.</b> Everything in it is invented.</div>'
        )
    st.html(
        f'<div class="ts"><h1 class="ts-question">{escape.html(escape.shorten(view.run.question, 300))}</h1>{render_status(view, state)}</div>'
    )
    client.show_notice("reply-run")
    left, right = st.columns([6, 5], gap="medium")
    with left:
        said = "".join(
            transcript.render_bubble(message) for message in state.own.full_conversation(state).messages
        )
        st.html(
            f'<div class="ts"><h2 class="ts-section">The conversation</h2>{said}{render_outcome(view, state)}</div>'
        )
        if state.own.should_reply:
            with st.expander("Copy the reply", icon=":material/content_copy:", key="reply-copy"):
                st.code(state.own.reply_text, language=None, wrap_lines=True)
    with right:
        st.html(f'<div class="ts"><h2 class="ts-section">Step by step</h2>{steps.render(view, state)}</div>')
    _draw_tabs(view, state)


def render_status(view: RunSnapshot, state: ReplyRun) -> str:
    """How it stands, as HTML."""
    run = view.run
    if run.status is Status.RUNNING:
        mark, told = (
            ("Working", "live"),
            f'<span class="pulse" aria-hidden="true"></span><span class="say">{escape.html(view.activity)}</span>',
        )
    elif run.status is not Status.DONE:
        mark, told = (
            (labels.STATUS[run.status], labels.STATUS_TONE[run.status]),
            f'<span class="say soft">{escape.html(run.error)}</span>',
        )
    else:
        mark = (
            ("Replied", "good")
            if state.own.should_reply
            else ("Failed, so silent", "bad")
            if state.own.trouble
            else ("Silent", "mute")
        )
        told = f'<span class="say soft">{labels.format_duration(view.usage.seconds)}, {format_count(view.usage.llm_calls, "model call")}</span>'
    asked_by = state.own.context
    where = (
        ""
        if asked_by.platform == bot_services.SCREEN_PLATFORM
        else f"{asked_by.platform} {asked_by.channel}".strip()
    )
    asked = badges.render(f"asked by a bot: {where}") if where else ""
    return f'<div class="ts-now" role="status" aria-live="polite">{badges.render(*mark)}{asked}{told}</div>'


def render_outcome(view: RunSnapshot, state: ReplyRun) -> str:
    """What is said, as the bubble it would be; or the silence and its reason."""
    if view.run.status is Status.RUNNING:
        return '<div class="bubble bot waits" aria-hidden="true"><div class="who">You (the bot)</div><span class="pulse"></span></div>'
    if state.own.should_reply and view.run.status is Status.DONE:
        return f'<div class="bubble bot new"><div class="who">You (the bot)</div><div class="said">{render_links(state.own.reply_text)}</div></div>'
    why = (
        view.run.error or state.own.silence or state.why_stopped or "No reason was written down."
    ).removeprefix("Nothing could be said: ")
    return f'<div class="silence"><b>Nothing is said.</b> {escape.html(why)}</div>'


def render_links(text: str) -> str:
    """The reply as HTML: a line that is an address becomes a link."""
    return "\n".join(_render_line(line) for line in text.split("\n"))


def _render_line(line: str) -> str:
    bare = line.strip().removeprefix("- ")
    return (
        f"{escape.html(line[: len(line) - len(bare)])}{escape.render_link(bare, bare)}"
        if escape.href(bare) and " " not in bare
        else escape.html(line)
    )


def _draw_tabs(view: RunSnapshot, state: ReplyRun) -> None:
    opened = st.tabs(TABS, key="reply-tab", on_change="rerun")
    for name, tab in zip(TABS, opened, strict=True):
        if not tab.open:
            continue
        with tab:
            if name == TABS[0]:
                flow_diagram.draw(view)
            elif name == "Quotes":
                _draw_quotes(view, state)
            elif name == "Facts":
                fact_table.draw(list(state.facts.values()), view.run.id)
            else:
                model_calls.draw(view.run.id)


def _draw_quotes(view: RunSnapshot, state: ReplyRun) -> None:
    if state.answers and state.answers[-1].sentences:
        st.html(answer_card.render(state.answers[-1], state.facts, view.run.id))
    else:
        empty_state.draw(
            "No quotes",
            "What may be posted stands here sentence by sentence, each with the words of the source it rests on.",
        )


def _draw_missing(told: str) -> None:
    st.title("No such reply")
    empty_state.draw(told, "It may have been asked on another computer or with another data folder.")
    with st.container(horizontal=True):
        ui.link("pages/reply.py", "Reply to a conversation", "reply")
        ui.link("pages/runs.py", "See all runs", "history")
