"""The search engines on the Settings screen: on or off, key or address, how each answered last, and a try."""

from __future__ import annotations

import streamlit as st

from agent.actions import engine_settings
from agent.actions.engine_settings import CONTACT_EMAIL, EngineField, EngineStatus
from agent.errors import UsageError
from agent.types import SUITS
from pages.widgets.shell import badges, client, escape, status_panels, ui

_TONES = {"works": "good", "resting": "warn", "failed": "bad"}
_LABELS = {"KEY": "Key", "URL": "Address", "ID": "Id", "EMAIL": "E-mail address"}
"""What a setting holds, by the end of its name."""
_EXPLANATION = (
    "A run uses the engines that are on, or those chosen under Sources. Each is sent the words of a search, "
    "and its key if it has one."
)


def draw() -> None:
    """All engines by what they suit, then the open copies of papers."""
    bench = client.workbench()
    statuses = engine_settings.list_engines(bench)
    ui.heading("Search engines", f'<p class="soft">{_EXPLANATION}</p>')
    client.show_notice("settings")
    for suits, what in SUITS.items():
        st.html(f'<div class="ts"><b>{escape.html(what[:1].upper() + what[1:])}</b></div>')
        for status in statuses:
            if status.profile.suits == suits:
                _draw_engine(status)
    told = "Unpaywall knows where a paper may be read for free. It is sent the paper's DOI and your e-mail."
    ui.heading("Open copies of papers", f'<p class="soft">{told}</p>')
    with st.container(border=True, key="settings-open-copies"):
        _draw_field(engine_settings.describe_field(bench, CONTACT_EMAIL), "")


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
            st.toggle(
                "On",
                status.is_on,
                key=f"settings-on-{name}-{status.is_on}",
                disabled=status.is_fixed,
                on_change=client.submit,
                args=(_switch, name, not status.is_on),
            )
            if status.is_on and not status.missing:
                status_panels.draw_check(key, client.workbench().check_engine, name)
        if status.health and f"settings-result-{key}" not in st.session_state:
            st.html(f'<div class="ts"><span class="small soft">{escape.html(status.health)}</span></div>')
        status_panels.draw_result(key)


def _switch(name: str, on: bool) -> None:
    st.session_state.pop(f"settings-result-engine-{name}", None)
    engine_settings.switch_engine(client.workbench(), name, on=on)


def _render_engine(status: EngineStatus) -> str:
    """Name and state, what it searches, and what is missing."""
    state = badges.render(status.state, _TONES.get(status.state, ""))
    about = escape.html(status.profile.about[:1].upper() + status.profile.about[1:])
    missing = (
        f'<br><span class="soft small">It has {escape.html(status.missing)}.</span>' if status.missing else ""
    )
    title = f"<b>{escape.html(status.profile.label)}</b> {state}"
    return f'<div class="ts">{title}<br><span class="soft">{about}</span>{missing}</div>'


def _draw_field(field: EngineField, engine: str) -> None:
    """A key, an address or the e-mail address: never a stored secret, only whether there is one."""
    key = f"settings-{field.name}-{engine}"
    typed = f"{key}-{field.is_set}-{field.value}"
    hint = "set" if field.is_set and field.is_secret else "needed" if field.is_needed else "not set"
    st.text_input(
        f"{_LABELS[field.name.rpartition('_')[2]]} ({field.name})",
        field.value,
        key=typed,
        type="password" if field.is_secret else "default",
        placeholder=hint,
        help=field.help,
        disabled=field.is_fixed,
        autocomplete="off",
    )
    if field.is_fixed:
        st.caption("Set in the environment or a file; change it there.")
        return
    with st.container(horizontal=True):
        ui.action("Save", f"{key}-save", _save, field.name, typed, engine, icon="save", done="Saved.")
        if field.is_set:
            ui.action("Remove", f"{key}-remove", _save, field.name, "", engine, done="Removed.")


def _save(name: str, typed: str, engine: str) -> None:
    """Save what was typed into a field; without a field the setting is removed."""
    value = str(st.session_state.get(typed, "")).strip() if typed else ""
    if typed and not value:
        raise UsageError(f"type or paste {name} first")
    engine_settings.save_engine_setting(client.workbench(), name, value, engine)
    st.session_state.pop(f"settings-result-engine-{engine}", None)
