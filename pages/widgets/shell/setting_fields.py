"""A form of settings with one Save, and a try; made from the settings' own words. It has no stored secret."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import streamlit as st

from agent.actions.server_settings import SettingField, check_value, describe_field
from agent.errors import UsageError
from pages.widgets.shell import client, escape, ui

Save = Callable[[SettingField, str], None]
"""Saves a value of a setting as it was drawn; an empty one removes it."""
_ENDINGS = {"KEY": "Key", "URL": "Address", "ID": "Id", "EMAIL": "E-mail address", "MODEL": "Model"}
_LABELS = {
    "MODEL": "Main model",
    "FAST_MODEL": "Model for small judgements",
    "JUDGE_MODEL": "Model that checks",
}


def draw(
    key: str,
    fields: Sequence[SettingField],
    save: Save,
    models: Sequence[str] | None = None,
    folded: Sequence[str] = (),
) -> None:
    """The form. `models`: what the names of models are chosen from; `folded`: settings that few need."""
    with st.form(f"{key}-form", border=False):
        with st.grid(2, min_column_width=240, gap="small"):
            for field in fields:
                if field.name not in folded:
                    _draw_field(key, field, models)
        if folded:
            with st.expander("More models"), st.grid(2, min_column_width=240, gap="small"):
                for field in fields:
                    if field.name in folded:
                        _draw_field(key, field, models)
        for told in dict.fromkeys(_explain(field, fields) for field in fields):
            if told:
                st.caption(escape.md(told))
        if all(field.is_fixed for field in fields):
            st.form_submit_button("Save", key=f"{key}-save", disabled=True)
            return
        with st.container(horizontal=True):
            press = st.form_submit_button
            press(
                "Save", key=f"{key}-save", icon=":material/save:", on_click=_submit, args=(key, fields, save)
            )
            for field in fields:
                if field.is_set and field.is_secret and not field.is_fixed:
                    given = {"args": (save, field, ""), "kwargs": {"done": "Removed."}}
                    press("Remove the key", key=f"{key}-remove", on_click=client.submit, **given)


def field_key(key: str, field: SettingField) -> str:
    """The key of a field's widget: another one for another address or value, and after a key was saved."""
    saved = st.session_state.get(f"{key}-saved", 0) if field.is_secret else field.value
    return f"{key}-{field.name}-{field.address or saved}-{field.is_secret and saved}"


def _draw_field(key: str, field: SettingField, models: Sequence[str] | None) -> None:
    typed, label = field_key(key, field), _LABELS.get(field.name) or _ENDINGS[field.name.rpartition("_")[2]]
    st.session_state.setdefault(typed, field.value or None if field.name in _LABELS else field.value)
    if field.name in _LABELS:
        names = dict.fromkeys(filter(None, (st.session_state[typed], field.value, *(models or ()))))
        hint = "the first the server lists" if field.name == "MODEL" else "the main model"
        more = {"placeholder": hint, "disabled": field.is_fixed}
        st.selectbox(label, list(names), None, key=typed, accept_new_options=True, **more)
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
    def count(_: None) -> None:
        st.session_state[f"{key}-saved"] = st.session_state.get(f"{key}-saved", 0) + 1
        st.session_state.pop(f"{key}-server", None)

    client.submit(_save, key, fields, save, done="Saved.", then=count)


def _save(key: str, fields: Sequence[SettingField], save: Save) -> None:
    """Save what was changed: all are checked before the first is saved, and a key goes to the address that
    was drawn or typed with it."""
    bench, changed = client.settings_bench(), []
    for field in fields:
        value = str(st.session_state.get(field_key(key, field)) or "").strip()
        if (value or not field.is_secret) and value != field.value and not field.is_fixed:
            changed.append((field, check_value(bench, field.name, value)))
    if not changed:
        raise UsageError("nothing was typed or changed")
    changed.sort(key=lambda one: one[0].is_secret)
    moved = any(field.name.endswith("_URL") for field, _ in changed)
    for field, value in changed:
        address = describe_field(bench, field.name).address if moved else field.address
        save(replace(field, address=address), value)


def draw_test(key: str, check: Callable[..., tuple[bool, str]], *args: str) -> None:
    """The button that really tries it; then all is drawn again: what it found changes what is shown."""
    if ui.button("Test", f"{key}-test", icon="network_check", type="tertiary"):
        with st.spinner("Trying it …"):
            works, told = check(*args)
        client.set_notice("success" if works else "warning", told)
        st.rerun()
