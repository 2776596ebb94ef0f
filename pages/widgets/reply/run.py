"""One reply on the screen: what may be posted or why nothing, and the conversation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from agent.flows.reply.state import ReplyRun
from agent.text.sentences import LIST_MARK
from agent.types import Status
from agent.workbench import RunSnapshot
from pages.widgets.reply import bot_services
from pages.widgets.run import answer_pane, run_page, status_line, transcript
from pages.widgets.shell import badges, client, escape, labels, ui


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
    outcome = render_outcome(view, state)
    answer_pane.draw_html(f"{''.join(messages)}{outcome}", f"answer-{view.run.id}")
    if state.own.should_reply:
        with st.expander("Copy the reply", icon=":material/content_copy:", key="reply-copy"):
            st.code(state.own.reply_text, language=None, wrap_lines=True)


def render_status(view: RunSnapshot, state: ReplyRun) -> str:
    """How it stands, as HTML."""
    run, own = view.run, state.own
    mark, told = labels.STATUS[run.status], run.error
    if run.status is Status.RUNNING:
        mark, told = ("Working", "live"), view.activity
    elif run.status is Status.DONE:
        silent = ("Failed, so no reply", "bad") if own.trouble else ("No reply", "mute")
        mark, told = ("Replied", "good") if own.should_reply else silent, ""
    context, screen = own.context, bot_services.SCREEN_PLATFORM
    where = "" if context.platform == screen else f"{context.platform} {context.channel}".strip()
    asked = badges.render(f"asked by a bot: {where}") if where else ""
    demo = '<span class="world" title="Everything in it is invented.">demo knowledge base</span>'
    world = status_line.describe_world(run.settings) or (demo if bot_services.is_demo(context) else "")
    pulse = '<span class="pulse" aria-hidden="true"></span>' if run.status is Status.RUNNING else ""
    figures = " · ".join(filter(None, (labels.format_duration(view.usage.seconds), world)))
    line = f'{badges.render(*mark)}{asked}{pulse}<span class="say soft">{escape.html(told)}</span>'
    meta = f'<span class="figures-line small soft">{figures}</span>'
    return f'<div class="ts-now" role="status" aria-live="polite">{line}{meta}</div>'


def render_outcome(view: RunSnapshot, state: ReplyRun) -> str:
    """What is said, as the bubble it would be, each sentence a way to its quote; or the silence and its
    reason."""
    who = '<div class="who">You (the bot)</div>'
    if view.run.status is Status.RUNNING:
        return f'<div class="bubble bot waits" aria-hidden="true">{who}<span class="pulse"></span></div>'
    if state.own.should_reply and view.run.status is Status.DONE:
        first, *rest = state.answers[-1].sentences  # an item of a list begins a line, as it is posted
        rest = [one.replace(text=f"\n{one.text}") if LIST_MARK.match(one.text) else one for one in rest]
        posted = state.answers[-1].replace(sentences=[first, *rest])
        said = answer_pane.render(posted, view.run.id, view.run.question)
        return f'<div class="bubble bot new">{who}{said}</div>' + _render_unsaid(state.own.left_out)
    why = view.run.error or state.own.silence or state.why_stopped or "No reason was written down."
    why = why.removeprefix("Nothing could be said: ")
    told = f'<div class="silence"><b>Nothing is said.</b> {escape.html(why)}</div>'
    return told + _render_unsaid([*state.own.left_out, *filter(None, [state.own.draft])])


def _render_unsaid(drafted: Sequence[str]) -> str:
    """What was drafted and is not said, folded."""
    items = "".join(f"<li>{escape.html(text)}</li>" for text in drafted)
    fold = f"<summary>Drafted, but not said</summary><ul>{items}</ul>"
    return f'<details class="journey">{fold}</details>' if drafted else ""


PAGE = run_page.RunPage(
    flow="reply",
    noun="reply",
    new_label="Another conversation",
    missing_hint=(
        "Replies are not stored unless ai_response.store_conversations is on: one that was made on the Reply "
        "screen can be looked at for an hour, as long as the program runs."
    ),
)
TABS = {"Activity": run_page.draw_activity, "Sources": run_page.draw_sources}
draw = partial(run_page.draw, PAGE, _draw_live)
