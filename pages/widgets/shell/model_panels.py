"""The model and embedding servers on the Settings screen: a form each, with addresses of known servers."""

from __future__ import annotations

import re

import streamlit as st

from agent.actions import server_settings
from agent.actions.server_settings import SettingField, describe_field
from agent.llm import detect
from agent.workbench import ActiveConfiguration
from pages.widgets.shell import client, escape, polling, setting_fields

_CODE = re.compile("`(.+?)`")
SERVERS = {
    "OpenAI": "https://api.openai.com/v1",
    "OpenRouter": "https://openrouter.ai/api/v1",
    "Groq": "https://api.groq.com/openai/v1",
    "Mistral": "https://api.mistral.ai/v1",
    "Together": "https://api.together.xyz/v1",
    "DeepSeek": "https://api.deepseek.com/v1",
    "Ollama (this computer)": "http://localhost:11434/v1",
    "LM Studio (this computer)": "http://localhost:1234/v1",
    "llama.cpp (this computer)": "http://localhost:8080/v1",
    "vLLM (this computer)": "http://localhost:8000/v1",
}
"""Addresses as the servers' own documentation gives them."""
KEY = "settings-model"
_CONNECT = "Choose a server, paste its key, save. A local Ollama is found by itself."


def draw(active: ActiveConfiguration) -> None:
    """The model, or that there is none; then, folded, search by meaning."""
    bench = client.settings_bench()
    fields = [describe_field(bench, name) for name in server_settings.MODEL_SETTINGS]
    keeping = _CODE.sub(r"<code>\1</code>", escape.html(bench.config.saved.describe_keeping()))
    polling.wait_for_model(bench)
    with st.container(border=True, key=KEY):
        with st.container(horizontal=True, vertical_alignment="center"):
            name = escape.html(active.model or "No AI model connected")
            told = _CONNECT if active.model_detail == detect.NO_MODEL else active.model_detail
            detail = f'<span class="small soft">{escape.html(told)}</span>'
            st.html(f'<div class="ts"><b>{name}</b><br>{detail}</div>', width="stretch")
            setting_fields.draw_test(KEY, bench.check_model)
        _draw_servers(fields[0])
        models, folded = bench.worker.model_search.list_models(), server_settings.MODEL_SETTINGS[3:]
        if bench.worker.model_search.listing.is_alive():
            polling.follow(bench.worker.model_search.listing.is_alive, bool, lambda _: None, True)
        setting_fields.draw(KEY, fields, _save, models, folded)
        asks = "A run at work asks before it takes another model."
        st.html(f'<div class="ts"><p class="small soft">{keeping} {asks}</p></div>')
    with st.expander("Search by meaning", icon=":material/hub:", key="settings-meaning"):
        key = "settings-embedding"
        with st.container(horizontal=True, vertical_alignment="center"):
            detail = escape.html(active.embedding_detail)
            st.html(f'<div class="ts"><p class="small soft">{detail}</p></div>', width="stretch")
            setting_fields.draw_test(key, bench.check_embedder)
        names = server_settings.EMBEDDING_SETTINGS
        setting_fields.draw(key, [describe_field(bench, name) for name in names], _save)


def _draw_servers(address: SettingField) -> None:
    """The known servers: a choice writes the address below."""
    key, typed = f"{KEY}-server", setting_fields.field_key(KEY, address)
    if not address.is_fixed:
        known = {url: name for name, url in SERVERS.items()}
        st.session_state.setdefault(key, known.get(st.session_state.get(typed, address.value)))
        hint = "Another server" if address.value else "Choose a server, or type its address below"
        st.selectbox(
            "Server", list(SERVERS), None, key=key, placeholder=hint, on_change=_choose, args=(typed,)
        )


def _choose(typed: str) -> None:
    st.session_state[typed] = SERVERS.get(st.session_state[f"{KEY}-server"], "")


def _save(field: SettingField, value: str) -> None:
    client.change_setting(field.name, server_settings.save_model_setting, field.name, value, field.address)
