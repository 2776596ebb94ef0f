"""Model calls, readable afterwards: prompt and reply as they were, drawn as plain text only."""

from __future__ import annotations

import streamlit as st

from agent.types import ModelCall
from agent.types.facts import describe_place
from agent.workbench import RunSnapshot
from pages.widgets.shell import client, escape, labels, markup, pagination, ui

PAGE_SIZE = 40
"""Calls to choose from at a time."""


def draw(view: RunSnapshot) -> None:
    """The calls of a run, newest first; one at a time is opened."""
    run_id, actions = view.run.id, view.state.actions
    kept, key = client.workbench().store_of(run_id).calls, f"research-calls-{run_id}"
    if not (total := kept.count(run_id)):
        st.caption("No model was asked.")
        return
    first = pagination.take_page(range(total), PAGE_SIZE, key)[0]
    calls = {call.key: call for call in kept.list_newest(run_id, PAGE_SIZE, first)}
    pagination.draw(total, PAGE_SIZE, key, "calls")
    names = {
        name: f"{describe_place(actions, call.step)} · {call.role}{' · failed' * bool(call.error)}"
        for name, call in calls.items()
    }
    if names:
        _draw_call(calls[ui.select("Call", names, "research-call")])


def _draw_call(call: ModelCall) -> None:
    about = "estimated" if call.estimated else "counted by the server"
    told = {
        "Model": escape.html(call.model),
        "When": f"{labels.format_time(call.at)}, {labels.format_duration(call.seconds)}",
        "Attempt": str(call.attempt),
        "Tokens": f"{call.prompt_tokens:,} in, {call.completion_tokens:,} out ({about})",
        "Cost": labels.format_money(call.cost_usd),
    }
    st.html(markup.terms(told.items()))
    if call.error:
        st.warning(escape.md(call.error), icon=":material/warning:")
    said = [(f"Prompt: {message.get('role', '')}", message.get("content", "")) for message in call.prompt]
    for caption, text in [("Reply", call.reply or "(no reply came)"), *said]:
        st.caption(escape.md(caption))
        st.code(text, language=None, wrap_lines=True, height=500 if len(text) > 1_000 else "content")
