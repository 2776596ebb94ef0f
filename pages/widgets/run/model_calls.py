"""Model calls, readable afterwards: prompt and reply as they were, drawn as plain text only."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from agent.types import Action, ModelCall
from agent.types.facts import describe_place
from agent.workbench import RunSnapshot
from pages.widgets.shell import client, empty_state, escape, labels, markup, pagination, ui

PAGE_SIZE = 40
"""Calls to choose from at a time."""


def draw(view: RunSnapshot) -> None:
    """The calls of a run, newest first; one at a time is opened."""
    run_id = view.run.id
    kept, key = client.workbench().store_of(run_id).calls, f"research-calls-{run_id}"
    total = kept.count(run_id)
    if not total:
        empty_state.draw(
            "No model was asked",
            "Without a model the run only finds passages. Connect one in Settings.",
        )
        return
    places = pagination.take_page(range(total), PAGE_SIZE, key)
    by_key = {call.key: call for call in kept.list_newest(run_id, PAGE_SIZE, places[0])}
    pagination.draw(total, PAGE_SIZE, key, "calls")
    if by_key:
        names = {name: _format_label(call, view.state.actions) for name, call in by_key.items()}
        _draw_call(by_key[ui.select("Call", names, "research-call")])


def _format_label(call: ModelCall, actions: Sequence[Action]) -> str:
    state = "failed" if call.error else f"{call.prompt_tokens + call.completion_tokens:,} tokens"
    again = f", attempt {call.attempt}" if call.attempt > 1 else ""
    return f"{describe_place(actions, call.step).capitalize()} · {call.role}{again} · {state}"


def _draw_call(call: ModelCall) -> None:
    about = "estimated" if call.estimated else "counted by the server"
    tokens = f"{call.prompt_tokens:,} in, {call.completion_tokens:,} out ({about})"
    when = f"{labels.format_time(call.at)}, {labels.format_duration(call.seconds)}"
    cost = labels.format_money(call.cost_usd)
    st.html(
        markup.terms([("Model", escape.html(call.model)), ("When", when), ("Tokens", tokens), ("Cost", cost)])
    )
    if call.error:
        st.warning(escape.md(call.error), icon=":material/warning:")
    st.caption("Reply")
    st.code(call.reply or "(no reply came)", language=None, wrap_lines=True)
    for message in call.prompt:
        st.caption(f"Prompt: {escape.md(message.get('role', ''))}")
        st.code(
            message.get("content", ""),
            language=None,
            wrap_lines=True,
            height=min(600, 80 + 22 * message.get("content", "").count("\n")),
        )
