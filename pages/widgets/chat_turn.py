"""One turn of a conversation: the question, what was answered with its quotes a click away, and what can be done when nothing was."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import streamlit as st

from agent.flows.chat_state import Chat
from agent.types import Answer, Settings, Status
from agent.workbench import View
from pages.widgets import answer, chat_places, chips, controls, door, exports, safe, words

WATCHED = "chat-watched"
"""The run whose answer is to be streamed: somebody here asked for it and waits."""
STREAM_S = 1.6
"""Seconds an answer takes at most to appear. It is complete and checked before its first word is shown."""
WORD_S = 0.03


def watch(run_id: str) -> None:
    """Somebody waits for this answer: it is shown word by word when it is there."""
    st.session_state[WATCHED] = run_id


def draw(view: View, state: Chat, *, fresh: bool = False, form: Callable[[], None] | None = None) -> None:
    """The turn. `fresh`: it is the newest, and is streamed to who waits for it; `form` asks back what it needs to know."""
    asked(view, state)
    if not state.answers:
        return
    given = state.answers[-1]
    streamed = fresh and st.session_state.get(WATCHED) == view.run.id
    if streamed:
        st.session_state.pop(WATCHED)
    with st.container(border=True, key=f"chat-answer-{view.run.id}"):
        if streamed:
            _stream(given)
        if state.located and state.located.rows:
            chat_places.draw(state.located, view.run.id)
            with st.expander("The rows they stand in", icon=":material/format_quote:", key=f"chat-rows-{view.run.id}"):
                st.html(answer.card(given, state.facts, view.run.id))
        else:
            st.html(said(given, view))
        if why := trouble(state):
            st.html(f'<div class="ts"><p class="small warned">The model did not speak, rules did in its place: {safe.html(why)}</p></div>')
        if form:
            form()


def trouble(state: Chat) -> str:
    """Why the model did not speak although it was asked, at the answer or on the way to it; "" when it did."""
    given = [*state.answers[-1:], *state.groundings[-1:], *state.rewrites[-1:], *state.speakers.values()]
    return next((one.trouble for one in given if one.trouble), "")


def asked(view: View, state: Chat) -> None:
    """The question, what it was read as, and what was asked back and answered on the way."""
    parts = [_bubble("user", "You", view.run.question)]
    for given, response in zip(state.answers, state.responses, strict=False):
        parts += [_bubble("bot", "Touchstone", given.certainty), _bubble("user", "You", response)]
    note = f'<p class="small soft read-as">Read as: {safe.html(state.read_as)}</p>' if state.read_as else ""
    st.html(f'<div class="ts">{"".join(parts)}{note}</div>')


def said(given: Answer, view: View) -> str:
    """An answer as its card; a question back or a refusal in its own words."""
    if given.sentences:
        return answer.card(given, view.state.facts, view.run.id)
    if given.courtesy:
        return f'<div class="ts"><div class="answer">{safe.html(given.certainty)}</div></div>'
    kind = {"needs_clarification": "A question back to you", "budget": "A limit was reached"}.get(given.reason, "The library does not answer this")
    missing = "".join(f'<p class="small soft">{safe.html(text)}</p>' for text in (given.missing, given.remark) if text)
    spoke = words.SPEAKER.get(given.by, "")
    return (
        f'<div class="ts"><div class="chips">{chips.one(kind, "warn")}<span class="small soft">{spoke}</span></div>'
        f'<div class="answer">{safe.html(given.certainty)}</div>{missing}</div>'
    )


def onwards(view: View, state: Chat) -> None:
    """What can be done with the newest answer: research what the library does not know, take the report along."""
    given = state.answers[-1] if state.answers else None
    if given is None or view.run.status is Status.RUNNING:
        return
    if given.courtesy:
        return
    open_ended = given.verdict != "answered" and given.reason != "needs_clarification"
    with st.container(horizontal=True, vertical_alignment="center", key="chat-onwards"):
        if open_ended and st.button("Open as research", key="chat-research", icon=":material/travel_explore:", help="Ask the web, step by step"):
            _research(view, state)
        if given.sentences:
            controls.review(view)
        else:
            exports.menu(view)


def _research(view: View, state: Chat) -> None:
    """Start a research run with the question and go there."""
    started: list[str] = []
    own = Settings(world=view.run.settings.world, model=view.run.settings.model)
    question = state.asked or view.run.question
    door.tell(door.workbench().start, question if "?" in question else f"{question}?", own, then=started.append)
    if started:
        st.switch_page("pages/research.py", query_params={"run": started[0]})
    st.rerun()


def _bubble(side: str, who: str, text: str) -> str:
    return f'<div class="bubble {side}"><div class="who">{who}</div><div class="said">{safe.html(text)}</div></div>'


def _stream(given: Answer) -> None:
    """The validated text word by word, then nothing: its card takes its place."""
    slot = st.empty()
    with slot.container(key="chat-stream"):
        st.write_stream(_words(given.text or given.certainty))
    slot.empty()


def _words(text: str) -> Iterator[str]:
    each = text.split()
    pause = min(WORD_S, STREAM_S / max(1, len(each)))
    for word in each:
        yield f"{safe.md(word)} "
        time.sleep(pause)
