"""One turn of a conversation: the question, the answer with its quotes a click away, or what can be done."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import streamlit as st

from agent.actions.follow_up import complete_question
from agent.flows.chat.state import ChatRun
from agent.types import Answer, Settings, Status
from agent.workbench import RunSnapshot
from pages.widgets.chat import places_map
from pages.widgets.run import answer_pane, controls, export_menu, status_line
from pages.widgets.shell import client, escape, ui

STREAM_RUN_KEY = "chat-watched"
"""The run whose answer is to be streamed: somebody here asked for it and waits."""
STREAM_S, MIN_STREAM_S = 1.6, 1.2
"""Seconds an answer takes at most and at least to appear, complete and checked before its first word."""
WORD_S = 0.03


def request_stream(run_id: str) -> None:
    """Somebody waits for this answer: it is shown word by word when it is there."""
    st.session_state[STREAM_RUN_KEY] = run_id


def draw(
    view: RunSnapshot, state: ChatRun, *, fresh: bool = False, form: Callable[[], None] | None = None
) -> None:
    """The turn. `fresh`: it is the newest, streamed to who waits for it; `form` asks back."""
    draw_question(view, state)
    if not state.answers:
        return
    given = state.answers[-1]
    streamed = fresh and st.session_state.get(STREAM_RUN_KEY) == view.run.id
    if streamed:
        st.session_state.pop(STREAM_RUN_KEY)
    with st.container(border=True, key=f"chat-answer-{view.run.id}"):
        if streamed:
            _stream_answer(given)
        if state.own.located and state.own.located.rows:
            places_map.draw(state.own.located, view.run.id)
            with st.expander("Source rows", icon=":material/format_quote:", key=f"chat-rows-{view.run.id}"):
                answer_pane.draw(given, view)
        else:
            _draw_answer(given, view)
        own = state.own
        asked = [given, *own.groundings[-1:], *own.rewrites[-1:], *own.speakers.values()]
        if why := next((one.trouble for one in asked if one.trouble), ""):
            told = f"The model failed at a step: {escape.html(why)}"
            st.html(f'<div class="ts"><p class="small warned">{told}</p></div>')
        if form:
            form()


def draw_question(view: RunSnapshot, state: ChatRun) -> None:
    """The question, what it was read as, and what was asked back and answered on the way."""
    parts = [_render_bubble("user", "You", view.run.question)]
    for given, response in zip(state.answers, state.own.responses, strict=False):
        parts += [
            _render_bubble("bot", "Touchstone", given.certainty),
            _render_bubble("user", "You", response),
        ]
    if said := escape.html(state.standalone_question):
        parts.append(f'<p class="small soft read-as">Read as: {said}</p>')
    st.html(f'<div class="ts">{"".join(parts)}</div>')


def _draw_answer(given: Answer, view: RunSnapshot) -> None:
    """An answer with how sure it is; a question back or a refusal in its own words."""
    answer_pane.draw(given, view)
    if given.sentences:
        _, told = status_line.describe_answer(given)
        st.html(f'<div class="ts"><p class="small soft">{told}</p></div>')


def draw_next_steps(view: RunSnapshot, state: ChatRun) -> None:
    """What can be done with the newest answer: research what is missing, take the report along."""
    given = state.answers[-1] if state.answers else None
    if given is None or given.is_small_talk or view.run.status is Status.RUNNING:
        return
    is_open = given.verdict in ("partial", "no_evidence") or bool(given.missing)
    offers_research = is_open and given.reason != "needs_clarification"
    with st.container(horizontal=True, vertical_alignment="center", key="chat-onwards"):
        more = {"icon": "travel_explore", "help": "Ask the web, step by step"}
        if offers_research and ui.button("Open as research", "chat-research", **more):
            _start_research(view, state)
        if given.sentences:
            controls.draw_review(view)
        else:
            export_menu.draw(view)


def _start_research(view: RunSnapshot, state: ChatRun) -> None:
    """Start a research run with the question, in words that the person wrote, and go there."""
    started: list[str] = []
    own = Settings(world=view.run.settings.world, model=view.run.settings.model)
    question = complete_typed_question(state)
    client.submit(
        client.workbench().start, question if "?" in question else f"{question}?", own, then=started.append
    )
    if started:
        st.switch_page("pages/research.py", query_params={"run": started[0]})
    st.rerun()


def complete_typed_question(state: ChatRun) -> str:
    """The question with what the one before it is about; `asked`, of a model, tells what the library says."""
    return complete_question(state.history[-1].user, state.question) if state.history else state.question


def _render_bubble(side: str, who: str, text: str) -> str:
    return (
        f'<div class="bubble {side}"><div class="who">{who}</div><div '
        f'class="said">{escape.html(text)}</div></div>'
    )


def _stream_answer(given: Answer) -> None:
    """The validated text word by word, then nothing: its card takes its place."""
    slot = st.empty()
    with slot.container(key="chat-stream"):
        st.write_stream(_yield_words(given.text or given.certainty))
    slot.empty()


def _yield_words(text: str) -> Iterator[str]:
    each = text.split()
    pause = max(min(WORD_S * len(each), STREAM_S), MIN_STREAM_S) / max(1, len(each))
    for word in each:
        yield f"{escape.md(word)} "
        time.sleep(pause)
