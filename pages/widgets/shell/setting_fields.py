"""A field of the Settings screen: never a stored secret, only whether there is one."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from agent.actions.server_settings import SettingField
from agent.errors import UsageError
from pages.widgets.shell import client, escape

Save = Callable[[SettingField, str], None]
"""Saves a value of a setting as it was drawn; an empty one removes it."""


def draw(field: SettingField, key: str, label: str, save: Save) -> None:
    """The field with its buttons, or why it cannot be changed here."""
    typed = f"{key}-{field.is_set}-{field.value or field.address}"  # a key typed for another address is gone
    hint = "set" if field.is_set and field.is_secret else "needed" if field.is_needed else "not set"
    goes = f"Sent to {field.address.removeprefix('https://')} and nowhere else." if field.address else ""
    held = "Held in memory only: forgotten when the server stops." if field.is_held else ""
    fixed = "Set in the environment or a file, or by an admin; change it there." if field.is_fixed else ""
    form = st.container() if fixed else st.form(f"{key}-form", field.is_secret, border=False)
    with form:  # that of a key is emptied by the click: it stands in the page no moment longer
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
        for told in filter(None, (field.unused or goes, held, fixed)):
            st.caption(escape.md(told))
        if fixed:
            return
        with st.container(horizontal=True):
            press, given = st.form_submit_button, (field, typed, save)
            press("Save", key=f"{key}-save", icon=":material/save:", on_click=_submit, args=given)
            if field.is_set:
                what, told = (save, field, ""), {"done": "Removed."}
                press("Remove", key=f"{key}-remove", on_click=client.submit, args=what, kwargs=told)


def _submit(field: SettingField, typed: str, save: Save) -> None:
    def tell(_: None) -> None:
        is_held = client.settings_bench().config.saved.is_held(field.name)
        client.set_notice("success", "Held in memory until the server stops." if is_held else "Saved.")

    client.submit(_save, field, typed, save, then=tell)


def _save(field: SettingField, typed: str, save: Save) -> None:
    value = str(st.session_state.get(typed, "")).strip()
    if not value:
        raise UsageError(f"type or paste {field.name} first")
    save(field, value)
