"""The parts of the Settings screen: what is active, and a button that really tries it."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from agent.types import Settings
from agent.workbench import ActiveConfiguration
from pages.widgets.shell import client, escape, labels, markup, ui


def draw_model(active: ActiveConfiguration) -> None:
    """The model server, or why there is none."""
    ui.heading("Model")
    fast = (
        f", and {escape.html(active.fast_model)} for small judgements"
        if active.fast_model and active.fast_model != active.model
        else ""
    )
    name = (
        f"<b>{escape.html(active.model)}</b>{fast}"
        if active.model
        else "<b>No model: runs work by rules and quotes alone</b>"
    )
    draw_panel("model", name, active.model_detail, client.workbench().check_model)


def draw_worlds(active: ActiveConfiguration) -> None:
    """Data source, and where everything is kept."""
    rows = [
        [f"<b>{escape.html(title)}</b>", f"<code>{escape.html(name)}</code>"]
        for name, title in active.worlds.items()
    ]
    ui.heading("Data sources", markup.table(["Data source", "Name"], rows))
    data = escape.html(active.data)
    ui.heading("Kept on this computer", f"<p>Runs, pages and drafts: <code>{data}</code></p>")


def draw_limits() -> None:
    """What a run may spend unless its Options say otherwise."""
    plain = Settings()
    rows = [
        ("Searches and pages", f"{plain.max_steps} a round"),
        ("Pages read", f"{plain.max_pages} a round"),
        ("Model calls", f"{plain.max_calls}"),
        ("Tokens", f"{plain.max_tokens:,}"),
        ("Money", labels.format_money(plain.max_cost_usd)),
        ("Working time", labels.format_duration(plain.max_seconds)),
        ("Review from confidence", labels.format_percent(plain.threshold)),
    ]
    ui.heading("Limits of a run", markup.terms(rows))


def draw_panel(key: str, title: str, detail: str, check: Callable[..., tuple[bool, str]], *args: str) -> None:
    """What is in use, with a button that tries it."""
    with st.container(border=True, key=f"settings-{key}"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.html(
                f'<div class="ts">{title}<br><span class="soft small">{escape.html(detail)}</span></div>',
                width="stretch",
            )
            draw_check(key, check, *args)
        draw_result(key)


def draw_check(key: str, check: Callable[..., tuple[bool, str]], *args: str) -> None:
    """The button that tries it."""
    if ui.button("Check", f"settings-check-{key}", icon="network_check"):
        with st.spinner("Trying it …"):
            st.session_state[f"settings-result-{key}"] = check(*args)


def draw_result(key: str) -> None:
    """How the last try went."""
    if result := st.session_state.get(f"settings-result-{key}"):
        works, sentence = result
        (st.success if works else st.warning)(
            escape.md(sentence), icon=":material/check_circle:" if works else ":material/warning:"
        )
