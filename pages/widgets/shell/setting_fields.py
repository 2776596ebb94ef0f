"""A field of the Settings screen: never a stored secret, only whether there is one."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from agent.actions.settings.fields import SettingField
from agent.errors import UsageError
from pages.widgets.shell import client, escape, ui

Save = Callable[[str, str], None]
"""Saves a value under a setting's name; an empty one removes it."""


def draw(field: SettingField, key: str, label: str, save: Save) -> None:
    """The field with its buttons, or why it cannot be changed here."""
    typed = f"{key}-{field.is_set}-{field.value}"
    hint = "set" if field.is_set and field.is_secret else "needed" if field.is_needed else "not set"
    st.text_input(
        f"{label} ({field.name})",
        field.value,
        key=typed,
        type="password" if field.is_secret else "default",
        placeholder=hint,
        help=field.help,
        disabled=field.is_fixed,
        autocomplete="off",
    )
    held = "Held in memory only: forgotten when the server stops." if field.is_held else ""
    for told in filter(None, (field.unused, held)):
        st.caption(escape.md(told))
    if field.is_fixed:
        st.caption("Set in the environment or a file, or by an admin; change it there.")
        return
    with st.container(horizontal=True):
        ui.button("Save", f"{key}-save", _submit, field.name, typed, save, icon="save")
        if field.is_set:
            ui.action("Remove", f"{key}-remove", save, field.name, "", done="Removed.")


def _submit(name: str, typed: str, save: Save) -> None:
    def tell(_: None) -> None:
        is_held = client.settings_bench().config.saved.is_held(name)
        client.set_notice("success", "Held in memory until the server stops." if is_held else "Saved.")

    client.submit(_save, name, typed, save, then=tell)


def _save(name: str, typed: str, save: Save) -> None:
    value = str(st.session_state.get(typed, "")).strip()
    if not value:
        raise UsageError(f"type or paste {name} first")
    save(name, value)
