"""The model and embedding servers on the Settings screen: what is in use, its settings, a try."""

from __future__ import annotations

import re
from collections.abc import Sequence

import streamlit as st

from agent.actions import server_settings
from agent.actions.server_settings import SettingField
from agent.workbench import ActiveConfiguration
from pages.widgets.shell import client, escape, polling, setting_fields, status_panels, ui

_NO_MODEL = "No model: runs work by rules and quotes alone"
_CODE = re.compile("`(.+?)`")
_LABELS = {
    "OPENAI_BASE_URL": "Address",
    "OPENAI_API_KEY": "Key",
    "MODEL": "Strong model",
    "FAST_MODEL": "Fast model",
    "JUDGE_MODEL": "Model that checks",
    "EMBEDDING_MODEL": "Model",
    "EMBEDDING_BASE_URL": "Address",
    "EMBEDDING_API_KEY": "Key",
}


def draw(active: ActiveConfiguration) -> None:
    """The model, or why there is none; then search by meaning."""
    bench = client.settings_bench()
    keeping = _CODE.sub(r"<code>\1</code>", escape.html(bench.config.saved.describe_keeping()))
    ui.heading("Model", f'<p class="soft">A run under way rests at a change until you choose. {keeping}</p>')
    client.show_notice("settings")
    is_other = active.fast_model not in ("", active.model)
    fast = f", and {escape.html(active.fast_model)} for small judgements" if is_other else ""
    name = f"<b>{escape.html(active.model or _NO_MODEL)}</b>{fast}"
    polling.wait_for_model(bench)
    _draw_panel("model", name, active.model_detail, server_settings.MODEL_SETTINGS)
    meaning = "<b>Search by meaning</b>"
    _draw_panel("embedding", meaning, active.embedding_detail, server_settings.EMBEDDING_SETTINGS)


def _draw_panel(key: str, title: str, detail: str, names: Sequence[str]) -> None:
    bench = client.settings_bench()
    check = bench.check_model if key == "model" else bench.check_embedder
    with st.container(border=True, key=f"settings-{key}"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.html(f'<div class="ts">{title}</div>', width="stretch")
            with st.popover("Set up", icon=":material/key:", key=f"settings-fields-{key}"):
                for field in (server_settings.describe_field(bench, name) for name in names):
                    setting_fields.draw(field, f"settings-{field.name}", _LABELS[field.name], _save)
            status_panels.draw_check(key, check)
        st.html(f'<div class="ts"><span class="soft small">{escape.html(detail)}</span></div>')
        status_panels.draw_result(key)


def _save(field: SettingField, value: str) -> None:
    given = field.name, value, field.address
    client.change_setting(field.name, server_settings.save_model_setting, *given)
    for key in ("model", "embedding"):
        st.session_state.pop(f"settings-result-{key}", None)
