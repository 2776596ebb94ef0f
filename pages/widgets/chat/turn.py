"""One turn of a conversation: the question, the answer with its quotes a click away, or what can be done."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from agent.actions.follow_up import complete_question
from agent.flows.chat.state import ChatRun
from agent.types import Settings, Status
from agent.workbench import RunSnapshot
from pages.widgets.chat import places_map
from pages.widgets.run import answer_pane, controls, export_menu, status_line
from pages.widgets.shell import client, escape, markup, ui


def draw(view: RunSnapshot, state: ChatRun, *, form: Callable[[], None] | None = None) -> None:
    """The turn; `form` asks back."""
    draw_question(view, state)
    if not state.answers:
        return
    given, own = state.answers[-1], state.own
    with st.container(border=True, key=f"chat-answer-{view.run.id}"):
        if own.located and own.located.rows:
            places_map.draw(own.located, view.run.id)
            with st.expander("Source rows", icon=":material/format_quote:", key=f"chat-rows-{view.run.id}"):
                answer_pane.draw(given, view)
        else:
            answer_pane.draw(given, view)
            told = status_line.describe_answer(given)[1] if given.sentences else ""
            st.html(f'<div class="ts">{markup.paragraph(told)}</div>')
        asked = [given, *own.groundings[-1:], *own.rewrites[-1:], *own.speakers.values()]
        if why := next((one.trouble for one in asked if one.trouble), ""):
            told = f"The model failed at a step: {escape.html(why)}"
            st.html(f'<div class="ts"><p class="small warned">{told}</p></div>')
        if form:
            form()


def draw_question(view: RunSnapshot, state: ChatRun) -> None:
    """The question, what it was read as, and what was asked back and answered on the way."""
    said = [("user", view.run.question)]
    for given, response in zip(state.answers, state.own.responses, strict=False):
        said += [("bot", given.certainty), ("user", response)]
    bubbles = "".join(_render_bubble(side, text) for side, text in said)
    read = f"Read as: {escape.html(state.standalone_question)}" if state.standalone_question else ""
    st.html(f'<div class="ts">{bubbles}{markup.paragraph(read, "small soft read-as")}</div>')


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


def _render_bubble(side: str, text: str) -> str:
    who = "You" if side == "user" else "Touchstone"
    said = f'<div class="who">{who}</div><div class="said">{escape.html(text)}</div>'
    return f'<div class="bubble {side}">{said}</div>'
