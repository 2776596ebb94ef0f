"""One reply on the screen: what may be posted or why nothing, the conversation, each step, the workflow."""

from __future__ import annotations

import streamlit as st

from agent.flows.reply.state import ReplyRun
from agent.text.plurals import format_count
from agent.types import Status
from agent.workbench import RunSnapshot
from pages.widgets.reply import bot_services, steps
from pages.widgets.run import answer_pane, run_page, status_line, transcript
from pages.widgets.shell import badges, client, empty_state, escape, labels, ui


def draw(run_id: str) -> None:
    """The run, drawn again every second while it works."""
    if view := run_page.open_run(PAGE, run_id):
        run_page.follow(_draw_live, view)


def _draw_live(view: RunSnapshot) -> None:
    state: ReplyRun = view.state
    title = escape.html(escape.shorten(view.run.question, 300))
    with st.container(horizontal=True, key="run-head"):
        st.html(f'<div class="ts"><h1 class="ts-question">{title}</h1></div>', width="stretch")
        ui.link(PAGE.path, PAGE.new_label, "add", {})
    st.html(f'<div class="ts">{render_status(view, state)}</div>')
    client.show_notice("reply-run")
    if client.workbench().unstored.get(view.run.id):
        st.caption("This conversation is not stored. It can be looked at for an hour, then it is gone.")
    run_page.draw_panes(view, lambda: _draw_conversation(view, state), TABS, "reply-tab")


def _draw_conversation(view: RunSnapshot, state: ReplyRun) -> None:
    messages = map(transcript.render_bubble, state.own.full_conversation(state).messages)
    st.html(f'<div class="ts">{"".join(messages)}{render_outcome(view, state)}</div>')
    if state.own.should_reply:
        with st.expander("Copy the reply", icon=":material/content_copy:", key="reply-copy"):
            st.code(state.own.reply_text, language=None, wrap_lines=True)


def render_status(view: RunSnapshot, state: ReplyRun) -> str:
    """How it stands, as HTML."""
    run = view.run
    if run.status is Status.RUNNING:
        mark, told = (
            ("Working", "live"),
            (
                '<span class="pulse" aria-hidden="true"></span><span class="say">'
                f"{escape.html(view.activity)}</span>"
            ),
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
        told = (
            f'<span class="say soft">{labels.format_duration(view.usage.seconds)}, '
            f"{format_count(view.usage.llm_calls, 'model call')}</span>"
        )
    asked_by = state.own.context
    where = (
        ""
        if asked_by.platform == bot_services.SCREEN_PLATFORM
        else f"{asked_by.platform} {asked_by.channel}".strip()
    )
    asked = badges.render(f"asked by a bot: {where}") if where else ""
    world = status_line.describe_world(run.settings)
    if bot_services.is_demo(state.own.context):
        world = (
            world or '<span class="world" title="Everything in it is invented.">demo knowledge base</span>'
        )
    meta = f'<span class="figures-line small soft">{world}</span>'
    line = f"{badges.render(*mark)}{asked}{told}{meta}"
    return f'<div class="ts-now" role="status" aria-live="polite">{line}</div>'


def render_outcome(view: RunSnapshot, state: ReplyRun) -> str:
    """What is said, as the bubble it would be; or the silence and its reason."""
    if view.run.status is Status.RUNNING:
        return (
            '<div class="bubble bot waits" aria-hidden="true"><div class="who">You (the '
            'bot)</div><span class="pulse"></span></div>'
        )
    if state.own.should_reply and view.run.status is Status.DONE:
        return (
            '<div class="bubble bot new"><div class="who">You (the bot)</div><div class="said">'
            f"{render_links(state.own.reply_text)}</div></div>"
        )
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


def _draw_quotes(view: RunSnapshot) -> None:
    answer = view.state.answers[-1] if view.state.answers else None
    if answer and answer.sentences:
        answer_pane.draw(answer, view)
    else:
        empty_state.draw("No quotes", "The reply appears here sentence by sentence, each with its quote.")


PAGE = run_page.RunPage(
    path="pages/reply.py",
    flows=("reply",),
    noun="reply",
    other_flow="This run is no reply",
    new_label="Another conversation",
    missing_hint=(
        "Replies are not stored unless ai_response.store_conversations is on: one that was made on the Reply "
        "screen can be looked at for an hour, as long as the program runs."
    ),
)
TABS = {
    "Step by step": lambda view: st.html(steps.render(view, view.state)),
    "Quotes": _draw_quotes,
    "Activity": run_page.draw_activity,
}
