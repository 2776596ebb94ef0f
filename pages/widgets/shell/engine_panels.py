"""The search engines on the Settings screen, a row each: on or off, how it answered last, its key, a try."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from agent.actions import server_settings
from agent.actions.server_settings import CONTACT_EMAIL, EngineStatus, SettingField, describe_field
from agent.types import SUITS
from pages.widgets.shell import badges, client, escape, setting_fields, ui

_TONES = {"works": "good", "resting": "warn", "failed": "bad"}


def draw() -> None:
    """All engines by what they suit, then the open copies of papers."""
    bench = client.settings_bench()
    statuses = server_settings.list_engines(bench)
    ui.heading("Search engines", '<p class="soft">Each that is on is sent the words of a search.</p>')
    with st.container(border=True, gap="xsmall", key="settings-engines"):
        for suits in SUITS:
            for status in statuses:
                if status.profile.suits == suits:
                    _draw_engine(status)
        with st.container(horizontal=True, vertical_alignment="center", key="settings-open-copies"):
            about = "Open copies of papers, by DOI and your e-mail address"
            st.html(
                f'<div class="ts small">Unpaywall <span class="soft">{about}</span></div>', width="stretch"
            )
            _draw_setup("", [describe_field(bench, CONTACT_EMAIL)])


def _draw_engine(status: EngineStatus) -> None:
    name, key = status.profile.name, f"settings-engine-{status.profile.name}"
    with st.container(horizontal=True, vertical_alignment="center", key=key):
        st.toggle(
            escape.md(status.profile.label),
            status.is_on and not status.needed,
            key=f"settings-on-{name}-{status.is_on}-{bool(status.needed)}",
            disabled=status.is_fixed or bool(status.needed),
            on_change=client.submit,
            args=(_switch, name, not status.is_on),
            width=190,
        )
        state = badges.render(status.state, _TONES.get(status.state, ""))
        about = status.profile.about
        about = f'<span class="small soft">{escape.html(about[:1].upper() + about[1:])}</span>'
        st.html(
            f'<div class="ts" title="{escape.html(status.health)}">{state} {about}</div>', width="stretch"
        )
        if fields := [field for field in status.fields if field.name != CONTACT_EMAIL]:
            _draw_setup(name, fields)
        if status.is_on and not status.needed:
            setting_fields.draw_test(key, client.settings_bench().check_engine, name)


def _draw_setup(engine: str, fields: Sequence[SettingField]) -> None:
    def save(field: SettingField, value: str) -> None:
        given = field.name, value, engine, field.address
        client.change_setting(field.name, server_settings.save_engine_setting, *given)

    name = f"settings-{engine or CONTACT_EMAIL}"
    opened = ui.popover("Set up", f"{name}-setup", "key", type="tertiary")
    if opened.open:
        with opened:
            setting_fields.draw(name, fields, save)


def _switch(name: str, on: bool) -> None:
    client.change_setting(f"{name} {'on' if on else 'off'}", server_settings.switch_engine, name, on=on)
