"""The panels of the Settings screen: the model, search by meaning, the search engines. Each is a form with
one Save and a try, made from the settings' own words; it has no stored secret."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import streamlit as st

from agent.actions import server_settings
from agent.actions.server_settings import (
    CONTACT_EMAIL,
    EngineStatus,
    SettingField,
    check_value,
    describe_field,
)
from agent.errors import UsageError
from agent.llm import detect
from agent.types import SUITS
from agent.workbench import ActiveConfiguration
from pages.widgets.shell import badges, client, escape, polling, ui

Save = Callable[[SettingField, str], None]
"""Saves a value of a setting as it was drawn; an empty one removes it."""
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
TONES = {"works": "good", "resting": "warn", "failed": "bad"}
_ENDINGS = {"KEY": "Key", "URL": "Address", "ID": "Id", "EMAIL": "E-mail address", "MODEL": "Model"}
_LABELS = {
    "MODEL": "Main model",
    "FAST_MODEL": "Model for small judgements",
    "JUDGE_MODEL": "Model that checks",
}


def draw_models(active: ActiveConfiguration) -> None:
    """The model, or that there is none; then, folded, search by meaning."""
    bench = client.settings_bench()
    fields = [describe_field(bench, name) for name in server_settings.MODEL_SETTINGS]
    keeping = re.sub("`(.+?)`", r"<code>\1</code>", escape.html(bench.config.saved.describe_keeping()))
    polling.wait_for_model(bench)
    with st.container(border=True, key=KEY):
        connect = "Choose a server, paste its key, save. A local Ollama is found by itself."
        told = connect if active.model_detail == detect.NO_MODEL else active.model_detail
        name = f"<b>{escape.html(active.model or 'No AI model connected')}</b><br>"
        _draw_head(KEY, name + f'<span class="small soft">{escape.html(told)}</span>', bench.check_model)
        _draw_servers(fields[0])
        models, folded = bench.worker.model_search.list_models(), server_settings.MODEL_SETTINGS[3:]
        if bench.worker.model_search.listing.is_alive():
            polling.follow(bench.worker.model_search.listing.is_alive, bool, lambda _: None, True)
        _draw_form(KEY, fields, _save_model, models, folded)
        asks = "A run at work asks before it takes another model."
        st.html(f'<div class="ts"><p class="small soft">{keeping} {asks}</p></div>')
    with st.expander("Search by meaning", icon=":material/hub:", key="settings-meaning"):
        key, detail = "settings-embedding", escape.html(active.embedding_detail)
        _draw_head(key, f'<p class="small soft">{detail}</p>', bench.check_embedder)
        names = server_settings.EMBEDDING_SETTINGS
        _draw_form(key, [describe_field(bench, name) for name in names], _save_model)


def _draw_head(key: str, told: str, check: Callable[[], tuple[bool, str]]) -> None:
    """What is set up, as HTML, and the button that tries it."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.html(f'<div class="ts">{told}</div>', width="stretch")
        _draw_test(key, check)


def _draw_servers(address: SettingField) -> None:
    """The known servers: a choice writes the address below."""
    key, typed = f"{KEY}-server", _name_widget(KEY, address)

    def _choose() -> None:
        st.session_state[typed] = SERVERS.get(st.session_state[key], "")

    if not address.is_fixed:
        known = {url: name for name, url in SERVERS.items()}
        st.session_state.setdefault(key, known.get(st.session_state.get(typed, address.value)))
        hint = "Another server" if address.value else "Choose a server, or type its address below"
        st.selectbox("Server", list(SERVERS), None, key=key, placeholder=hint, on_change=_choose)


def _save_model(field: SettingField, value: str) -> None:
    client.change_setting(field.name, server_settings.save_model_setting, field.name, value, field.address)


def draw_engines() -> None:
    """The search engines by what they suit, a row each, then the open copies of papers."""
    bench = client.settings_bench()
    statuses = server_settings.list_engines(bench)
    ui.heading("Search engines", '<p class="soft">Each that is on is sent the words of a search.</p>')
    with st.container(border=True, gap="xsmall", key="settings-engines"):
        for suits in SUITS:
            for status in statuses:
                if status.profile.suits == suits:
                    _draw_engine(status)
        with st.container(horizontal=True, vertical_alignment="center", key="settings-open-copies"):
            about = '<span class="soft">Open copies of papers, by DOI and your e-mail address</span>'
            st.html(f'<div class="ts small">Unpaywall {about}</div>', width="stretch")
            _draw_setup("", [describe_field(bench, CONTACT_EMAIL)])


def _draw_engine(status: EngineStatus) -> None:
    """On or off, how it answered last, its key, a try."""
    name, is_on = status.profile.name, status.is_on and not status.needed
    key = f"settings-engine-{name}"

    def _switch() -> None:
        told = f"{name} {'off' if status.is_on else 'on'}"
        client.change_setting(told, server_settings.switch_engine, name, on=not status.is_on)

    with st.container(horizontal=True, vertical_alignment="center", key=key):
        st.toggle(
            escape.md(status.profile.label),
            is_on,
            key=f"settings-on-{name}-{status.is_on}-{bool(status.needed)}",
            disabled=status.is_fixed or bool(status.needed),
            on_change=client.submit,
            args=(_switch,),
            width=190,
        )
        state = badges.render(status.state, TONES.get(status.state, ""))
        about = escape.html(status.profile.about[:1].upper() + status.profile.about[1:])
        told = f'{state} <span class="small soft">{about}</span>'
        st.html(f'<div class="ts" title="{escape.html(status.health)}">{told}</div>', width="stretch")
        if fields := [field for field in status.fields if field.name != CONTACT_EMAIL]:
            _draw_setup(name, fields)
        if is_on:
            _draw_test(key, client.settings_bench().check_engine, name)


def _draw_setup(engine: str, fields: Sequence[SettingField]) -> None:
    def _save(field: SettingField, value: str) -> None:
        given = field.name, value, engine, field.address
        client.change_setting(field.name, server_settings.save_engine_setting, *given)

    name = f"settings-{engine or CONTACT_EMAIL}"
    opened = ui.popover("Set up", f"{name}-setup", "key", type="tertiary")
    if opened.open:
        with opened:
            _draw_form(name, fields, _save)


def _draw_form(
    key: str,
    fields: Sequence[SettingField],
    save: Save,
    models: Sequence[str] = (),
    folded: Sequence[str] = (),
) -> None:
    """The form. `models`: what the names of models are chosen from; `folded`: settings that few need."""

    def _draw_fields(shown: Sequence[SettingField]) -> None:
        with st.grid(2, min_column_width=240, gap="small"):
            for field in shown:
                _draw_field(key, field, models)

    with st.form(f"{key}-form", border=False):
        _draw_fields([field for field in fields if field.name not in folded])
        if folded:
            with st.expander("More models"):
                _draw_fields([field for field in fields if field.name in folded])
        for told in dict.fromkeys(filter(None, (_explain(field, fields) for field in fields))):
            st.caption(escape.md(told))
        press, is_fixed = st.form_submit_button, all(field.is_fixed for field in fields)
        with st.container(horizontal=True):
            more = {"icon": ":material/save:", "on_click": _submit, "args": (key, fields, save)}
            press("Save", key=f"{key}-save", disabled=is_fixed, **more)
            for field in fields:
                if field.is_set and field.is_secret and not field.is_fixed:
                    given = {"args": (save, field, ""), "kwargs": {"done": "Removed."}}
                    press("Remove the key", key=f"{key}-remove", on_click=client.submit, **given)


def _name_widget(key: str, field: SettingField) -> str:
    """The key of a field's widget: another one for another address or value, and after a key was saved."""
    saved = st.session_state.get(f"{key}-saved", 0) if field.is_secret else field.value
    return f"{key}-{field.name}-{field.address or saved}-{field.is_secret and saved}"


def _draw_field(key: str, field: SettingField, models: Sequence[str]) -> None:
    typed, label = (
        _name_widget(key, field),
        _LABELS.get(field.name) or _ENDINGS[field.name.rpartition("_")[2]],
    )
    st.session_state.setdefault(typed, field.value or None if field.name in _LABELS else field.value)
    if field.name in _LABELS:
        names = dict.fromkeys(filter(None, (st.session_state[typed], field.value, *models)))
        hint = "the first the server lists" if field.name == "MODEL" else "the main model"
        more = {"placeholder": hint, "disabled": field.is_fixed, "accept_new_options": True}
        st.selectbox(label, list(names), None, key=typed, **more)
        return
    hint = "saved" if field.is_set and field.is_secret else "needed" if field.is_needed else ""
    kind = "password" if field.is_secret else "default"
    more = {"placeholder": hint, "disabled": field.is_fixed, "autocomplete": "off"}
    st.text_input(label, key=typed, type=kind, **more)


def _explain(field: SettingField, fields: Sequence[SettingField]) -> str:
    """Where a key goes and how it is kept; why a field cannot be changed."""
    if field.is_fixed:
        return "What is grey is set in the environment, in a file or by an admin: change it there."
    if not field.is_secret:
        return ""
    address = field.address.removeprefix("https://")
    goes = "the address above" if any(one.name.endswith("_URL") for one in fields) else address
    held = " Saved for this session: forgotten when the server stops." if field.is_held else ""
    return field.unused or f"The key is sent to {goes} and nowhere else.{held}"


def _submit(key: str, fields: Sequence[SettingField], save: Save) -> None:
    """Save what was changed: all are checked before the first is saved, and a key goes to the address that
    was drawn or typed with it."""

    def _save_changed() -> None:
        bench, changed = client.settings_bench(), []
        for field in fields:
            value = str(st.session_state.get(_name_widget(key, field)) or "").strip()
            if (value or not field.is_secret) and value != field.value and not field.is_fixed:
                changed.append((field, check_value(bench, field.name, value)))
        if not changed:
            raise UsageError("nothing was typed or changed")
        moved = any(field.name.endswith("_URL") for field, _ in changed)
        for field, value in sorted(changed, key=lambda one: one[0].is_secret):
            address = describe_field(bench, field.name).address if moved else field.address
            save(replace(field, address=address), value)

    def _count(_: None) -> None:
        st.session_state[f"{key}-saved"] = st.session_state.get(f"{key}-saved", 0) + 1
        st.session_state.pop(f"{key}-server", None)

    client.submit(_save_changed, done="Saved.", then=_count)


def _draw_test(key: str, check: Callable[..., tuple[bool, str]], *args: str) -> None:
    """The button that really tries it; then all is drawn again: what it found changes what is shown."""
    if ui.button("Test", f"{key}-test", icon="network_check", type="tertiary"):
        with st.spinner("Trying it …"):
            works, told = check(*args)
        client.set_notice("success" if works else "warning", told)
        st.rerun()
