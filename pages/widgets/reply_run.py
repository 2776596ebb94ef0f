"""One reply on the screen: what may be posted or why nothing is said, the conversation, each step with its reason, the picture of the way."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from agent.errors import NotFound
from agent.flows.reply_state import Reply
from agent.types import Status
from agent.wording import counted
from agent.workbench import View
from pages.widgets import answer, calls, chips, conversation, door, empty, facts, flowpath, following, reply_desk, reply_steps, safe, screens, words

HERE = Path(__file__).parent
TABS = ("The way it took", "Quotes", "Facts", "Model calls")


def draw(run_id: str) -> None:
    """The run, drawn again every second while it works."""
    st.html(HERE / "talk.css")
    try:
        view = door.workbench().view(run_id)
    except NotFound:
        _missing(f"There is no run called {safe.shorten(run_id, 40)}")
        return
    if not isinstance(view.state, Reply):
        _missing("This run is no reply")
        place = screens.of(view.run.settings.flow)
        st.page_link(place, label="Open it where it belongs", query_params={"run": run_id}, icon=":material/arrow_forward:")
        return
    st.set_page_config(page_title=f"{safe.shorten(view.run.question, 50)} · Touchstone")
    following.follow(_live, view)


def _live(run_id: str, moving: bool) -> None:
    view = door.workbench().view(run_id)
    state = view.state
    if moving is not (view.run.status is Status.RUNNING):
        st.rerun()  # it came to rest: the timer is not set again
    if not isinstance(state, Reply):
        return
    st.page_link("pages/reply.py", label="Another conversation", icon=":material/add:", query_params={})
    if reply_desk.is_demo(state.context):
        st.html('<div class="ts band" role="note"><b>The demo knowledge base.</b> Everything in it is invented.</div>')
    st.html(f'<div class="ts"><h1 class="ts-question">{safe.html(safe.shorten(view.run.question, 300))}</h1>{now(view, state)}</div>')
    door.show_notice("reply-run")
    left, right = st.columns([6, 5], gap="medium")
    with left:
        said = "".join(conversation.bubble(message) for message in state.talk.messages)
        st.html(f'<div class="ts"><h2 class="ts-section">The conversation</h2>{said}{outcome(view, state)}</div>')
        if state.should_reply:
            with st.expander("Copy the reply", icon=":material/content_copy:", key="reply-copy"):
                st.code(state.reply_text, language=None, wrap_lines=True)
    with right:
        st.html(f'<div class="ts"><h2 class="ts-section">Step by step</h2>{reply_steps.html(view, state)}</div>')
    _tabs(view, state)


def now(view: View, state: Reply) -> str:
    """How it stands, as HTML."""
    run = view.run
    if run.status is Status.RUNNING:
        mark, told = ("Working", "live"), f'<span class="pulse" aria-hidden="true"></span><span class="say">{safe.html(view.activity)}</span>'
    elif run.status is not Status.DONE:
        mark, told = (words.STATUS[run.status], words.STATUS_TONE[run.status]), f'<span class="say soft">{safe.html(run.error)}</span>'
    else:
        mark = ("Replied", "good") if state.should_reply else ("Failed, so silent", "bad") if state.trouble else ("Silent", "mute")
        told = f'<span class="say soft">{words.duration(view.usage.seconds)}, {counted(view.usage.llm_calls, "model call")}</span>'
    asked_by = state.context
    where = "" if asked_by.platform == reply_desk.SCREEN else f"{asked_by.platform} {asked_by.channel}".strip()
    asked = chips.one(f"asked by a bot: {where}") if where else ""
    return f'<div class="ts-now" role="status" aria-live="polite">{chips.one(*mark)}{asked}{told}</div>'


def outcome(view: View, state: Reply) -> str:
    """What is said, as the bubble it would be; or the silence and its reason."""
    if view.run.status is Status.RUNNING:
        return '<div class="bubble bot waits" aria-hidden="true"><div class="who">You (the bot)</div><span class="pulse"></span></div>'
    if state.should_reply and view.run.status is Status.DONE:
        return f'<div class="bubble bot new"><div class="who">You (the bot)</div><div class="said">{linked(state.reply_text)}</div></div>'
    why = (view.run.error or state.silence or state.why_stopped or "No reason was written down.").removeprefix("Nothing could be said: ")
    return f'<div class="silence"><b>Nothing is said.</b> {safe.html(why)}</div>'


def linked(text: str) -> str:
    """The reply as HTML: a line that is an address becomes a link."""
    return "\n".join(_line(line) for line in text.split("\n"))


def _line(line: str) -> str:
    bare = line.strip().removeprefix("- ")
    return f"{safe.html(line[: len(line) - len(bare)])}{safe.link(bare, bare)}" if safe.href(bare) and " " not in bare else safe.html(line)


def _tabs(view: View, state: Reply) -> None:
    opened = st.tabs(TABS, key="reply-tab", on_change="rerun")
    for name, tab in zip(TABS, opened, strict=True):
        if not tab.open:
            continue
        with tab:
            if name == TABS[0]:
                flowpath.tab(view)
            elif name == "Quotes":
                _quotes(view, state)
            elif name == "Facts":
                facts.draw(list(state.facts.values()), view.run.id)
            else:
                calls.draw(view.run.id)


def _quotes(view: View, state: Reply) -> None:
    if state.answers and state.answers[-1].sentences:
        st.html(answer.card(state.answers[-1], state.facts, view.run.id))
    else:
        empty.draw("No quotes", "What may be posted stands here sentence by sentence, each with the words of the source it rests on.")


def _missing(told: str) -> None:
    st.title("No such reply")
    empty.draw(told, "It may have been asked on another computer or with another data folder.")
    with st.container(horizontal=True):
        st.page_link("pages/reply.py", label="Reply to a conversation", icon=":material/reply:")
        st.page_link("pages/runs.py", label="See all runs", icon=":material/history:")
