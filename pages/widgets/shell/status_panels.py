"""The parts of the Settings screen: what is active, and a button that really tries it."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from agent.types import Settings
from agent.workbench import WORLD_LABELS
from pages.widgets.shell import client, escape, labels, markup, ui


def draw_worlds() -> None:
    """Data source, and where everything is kept."""
    rows = [
        [f"<b>{escape.html(title)}</b>", f"<code>{escape.html(name)}</code>"]
        for name, title in WORLD_LABELS.items()
    ]
    ui.heading("Data sources", markup.table(["Data source", "Name"], rows))
    data = escape.html(str(client.settings_bench().config.data_folder))
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


def draw_check(key: str, check: Callable[..., tuple[bool, str]], *args: str) -> None:
    """The button that tries it; then all is drawn again, because what it found changes the marks above."""
    if ui.button("Check", f"settings-check-{key}", icon="network_check"):
        with st.spinner("Trying it …"):
            st.session_state[f"settings-result-{key}"] = check(*args)
        st.rerun()


def draw_result(key: str) -> None:
    """How the last try went."""
    if result := st.session_state.get(f"settings-result-{key}"):
        works, sentence = result
        (st.success if works else st.warning)(
            escape.md(sentence), icon=":material/check_circle:" if works else ":material/warning:"
        )
