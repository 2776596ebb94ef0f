"""The search engines on the Settings screen: on or off, key or address, how each answered last, and a try."""

from __future__ import annotations

import streamlit as st

from agent.actions import server_settings
from agent.actions.server_settings import CONTACT_EMAIL, EngineStatus, SettingField, describe_field
from agent.types import SUITS
from pages.widgets.shell import badges, client, escape, setting_fields, status_panels, ui

_TONES = {"works": "good", "resting": "warn", "failed": "bad"}
_LABELS = {"KEY": "Key", "URL": "Address", "ID": "Id", "EMAIL": "E-mail address"}
"""What a setting holds, by the end of its name."""
_EXPLANATION = (
    "A run uses the engines that are on, or those chosen under Sources. Each is sent the words of a search, "
    "and its key if it has one."
)


def draw() -> None:
    """All engines by what they suit, then the open copies of papers."""
    bench = client.settings_bench()
    statuses = server_settings.list_engines(bench)
    ui.heading("Search engines", f'<p class="soft">{_EXPLANATION}</p>')
    for suits, what in SUITS.items():
        st.html(f'<div class="ts"><b>{escape.html(what[:1].upper() + what[1:])}</b></div>')
        for status in statuses:
            if status.profile.suits == suits:
                _draw_engine(status)
    told = "Unpaywall knows where a paper may be read for free. It is sent the paper's DOI and your e-mail."
    ui.heading("Open copies of papers", f'<p class="soft">{told}</p>')
    with st.container(border=True, key="settings-open-copies"):
        _draw_field(describe_field(bench, CONTACT_EMAIL), "")


def _draw_engine(status: EngineStatus) -> None:
    name = status.profile.name
    key = f"engine-{name}"
    with st.container(border=True, key=f"settings-{key}"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.html(_render_engine(status), width="stretch")
            fields = [field for field in status.fields if field.name != CONTACT_EMAIL]
            if fields:
                with st.popover("Set up", icon=":material/key:", key=f"settings-fields-{name}"):
                    for field in fields:
                        _draw_field(field, name)
            if not status.needed:
                st.toggle(
                    "On",
                    status.is_on,
                    key=f"settings-on-{name}-{status.is_on}",
                    disabled=status.is_fixed,
                    on_change=client.submit,
                    args=(_switch, name, not status.is_on),
                )
            if status.is_on and not status.needed:
                status_panels.draw_check(key, client.settings_bench().check_engine, name)
        if status.health and f"settings-result-{key}" not in st.session_state:
            st.html(f'<div class="ts"><span class="small soft">{escape.html(status.health)}</span></div>')
        status_panels.draw_result(key)


def _switch(name: str, on: bool) -> None:
    st.session_state.pop(f"settings-result-engine-{name}", None)
    client.change_setting(f"{name} {'on' if on else 'off'}", server_settings.switch_engine, name, on=on)


def _render_engine(status: EngineStatus) -> str:
    """Name and state, what it searches, and what is missing."""
    state = badges.render(status.state, _TONES.get(status.state, ""))
    about = escape.html(status.profile.about[:1].upper() + status.profile.about[1:])
    missing = f"Set {' and '.join(status.needed)} to use it." if status.needed else ""
    told = f'<br><span class="soft small">{escape.html(missing)}</span>' if missing else ""
    title = f"<b>{escape.html(status.profile.label)}</b> {state}"
    return f'<div class="ts">{title}<br><span class="soft">{about}</span>{told}</div>'


def _draw_field(field: SettingField, engine: str) -> None:
    def save(drawn: SettingField, value: str) -> None:
        given = drawn.name, value, engine, drawn.address
        client.change_setting(drawn.name, server_settings.save_engine_setting, *given)
        st.session_state.pop(f"settings-result-engine-{engine}", None)

    label = _LABELS[field.name.rpartition("_")[2]]
    setting_fields.draw(field, f"settings-{field.name}-{engine}", label, save)
