"""The parts of the Settings screen: what is active, and a button that really tries it."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from agent.types import Settings
from agent.workbench import Active
from pages.widgets import chips, door, safe, words


def model(active: Active) -> None:
    """The model server, or why there is none."""
    st.html('<div class="ts"><h2 class="ts-section">Model</h2></div>')
    fast = f", and {safe.html(active.fast_model)} for small judgements" if active.fast_model and active.fast_model != active.model else ""
    name = f"<b>{safe.html(active.model)}</b>{fast}" if active.model else "<b>No model: runs work by rules and quotes alone</b>"
    _part("model", name, active.model_detail, door.workbench().check_model)


def engines(active: Active) -> None:
    """Each search engine, those that are absent with the reason."""
    st.html('<div class="ts"><h2 class="ts-section">Search engines</h2></div>')
    for name, label in active.engines.items():
        _part(f"engine-{name}", f"<b>{safe.html(label)}</b>", "for questions about the live web", door.workbench().check_engine, name)
    for name, why in active.absent.items():
        title = f"<b>{safe.html(name.capitalize())}</b> {chips.one('off')}"
        st.html(f'<div class="ts">{title}<br><span class="soft small">{safe.html(why)}</span></div>')


def worlds(active: Active) -> None:
    """Where a question can go, and where everything is kept."""
    rows = "".join(f"<tr><td><b>{safe.html(title)}</b></td><td><code>{safe.html(name)}</code></td></tr>" for name, title in active.worlds.items())
    table = f'<div class="scroll"><table><tr><th>Where a question can go</th><th>Name</th></tr>{rows}</table></div>'
    st.html(f'<div class="ts"><h2 class="ts-section">Worlds</h2>{table}</div>')
    kept = f"<p>Runs, pages and drafts: <code>{safe.html(active.data)}</code></p>"
    st.html(f'<div class="ts"><h2 class="ts-section">Kept on this computer</h2>{kept}</div>')


def limits() -> None:
    """What a run may spend unless its Options say otherwise."""
    plain = Settings()
    rows = [
        ("Searches and pages", f"{plain.max_steps} a round"), ("Pages read", f"{plain.max_pages} a round"), ("Model calls", f"{plain.max_calls}"),
        ("Tokens", f"{plain.max_tokens:,}"), ("Money", words.money(plain.max_cost_usd)), ("Working time", words.duration(plain.max_seconds)),
        ("Review from confidence", words.percent(plain.threshold)),
    ]  # fmt: skip
    terms = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in rows)
    st.html(f'<div class="ts"><h2 class="ts-section">Limits of a run</h2><dl class="meta">{terms}</dl></div>')


def _part(key: str, title: str, detail: str, check: Callable[..., tuple[bool, str]], *args: str) -> None:
    with st.container(border=True, key=f"settings-{key}"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.html(f'<div class="ts">{title}<br><span class="soft small">{safe.html(detail)}</span></div>', width="stretch")
            asked = st.button("Check", key=f"settings-check-{key}", icon=":material/network_check:")
        if asked:
            with st.spinner("Trying it …"):
                st.session_state[f"settings-result-{key}"] = check(*args)
        if result := st.session_state.get(f"settings-result-{key}"):
            works, sentence = result
            (st.success if works else st.warning)(safe.md(sentence), icon=":material/check_circle:" if works else ":material/warning:")
