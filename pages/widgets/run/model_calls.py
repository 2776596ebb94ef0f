"""Model calls, readable afterwards: prompt and reply as they were, drawn as plain text only."""

from __future__ import annotations

import streamlit as st

from agent.types import ModelCall
from pages.widgets.shell import client, empty_state, escape, labels, pagination

PAGE_SIZE = 40
"""Calls to choose from at a time."""


def draw(run_id: str) -> None:
    """The calls of a run, newest first; one at a time is opened."""
    kept, key = client.workbench().store.calls, f"research-calls-{run_id}"
    total = kept.count(run_id)
    if not total:
        empty_state.draw(
            "No model was asked",
            "Without a model the run works by rules alone. To use one, name its server in .env; see Settings.",
        )
        return
    places = pagination.take_page(range(total), PAGE_SIZE, key)
    by_key = {call.key: call for call in kept.list_newest(run_id, PAGE_SIZE, places[0])}
    pagination.draw(total, PAGE_SIZE, key, "calls")
    chosen = st.selectbox(
        "Call",
        list(by_key),
        format_func=lambda key: _format_label(by_key[key]),
        key="research-call",
        filter_mode=None,
    )
    if chosen in by_key:
        _draw_call(by_key[chosen])


def _format_label(call: ModelCall) -> str:
    state = "failed" if call.error else f"{call.prompt_tokens + call.completion_tokens:,} tokens"
    again = f", attempt {call.attempt}" if call.attempt > 1 else ""
    return f"Step {call.step} · {call.role}{again} · {state}"


def _draw_call(call: ModelCall) -> None:
    about = "estimated" if call.estimated else "counted by the server"
    st.html(
        f'<dl class="ts meta"><dt>Model</dt><dd>{escape.html(call.model)}</dd>'
        f"<dt>When</dt><dd>{labels.format_time(call.at)}, {labels.format_duration(call.seconds)}</dd>"
        f"<dt>Tokens</dt><dd>{call.prompt_tokens:,} in, {call.completion_tokens:,} out ({about})</dd>"
        f"<dt>Cost</dt><dd>{labels.format_money(call.cost_usd)}</dd></dl>"
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
