"""One person on the people screen: role, block, quotas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from agent.accounts.people import Person
from agent.accounts.quotas import Quota
from agent.errors import UsageError
from pages.widgets.shell import badges, client, escape, http_gate, ui


def draw(admin: Person, person: Person) -> None:
    """Name and state, and behind "Change" what an admin may do."""
    with st.container(horizontal=True, vertical_alignment="center", key=f"person-{person.id}"):
        role = badges.render(person.role, "good" if person.is_admin else "")
        blocked = badges.render("blocked", "bad") if person.is_blocked else ""
        you = " (you)" if person.id == admin.id else ""
        st.html(
            f'<div class="ts"><b>{escape.html(person.label)}</b>{you} {role} {blocked}<br>'
            f'<span class="small soft">{escape.html(person.email or "no proven address")} · '
            f"since {person.created_at[:10]}</span></div>"
        )
        opened = ui.popover("Change", f"person-change-{person.id}", "tune")
    if opened.open:
        with opened:
            _draw_actions(admin, person)
            _draw_quota(person)


def _draw_actions(admin: Person, person: Person) -> None:
    key = f"person-do-{person.id}"
    with st.container(horizontal=True):
        other = "member" if person.is_admin else "admin"
        ui.button(f"Make {other}", f"{key}-role", _as_admin, "set_role", person.id, other)
        ui.button("Sign out everywhere", f"{key}-out", _as_admin, "sign_out_everywhere", person.id)
        if person.is_blocked:
            ui.button("Let in again", f"{key}-in", _as_admin, "let_in", person.id)
            if person.email:
                ui.button("Release address", f"{key}-free", _as_admin, "release_address", person.id)
        elif person.id != admin.id and person.folder:  # the first admin cannot be blocked
            ui.button("Block", f"{key}-block", _as_admin, "block", person.id, icon="block")


def _draw_quota(person: Person) -> None:
    quota, key = client.accounts().quotas.get(person.id), f"person-quota-{person.id}"
    with st.form(key, border=False):
        values = Quota(
            ui.number("Runs at work at once", 1, 1000, quota.runs, f"{key}-runs"),
            ui.number("Pages a day", 0, 10_000_000, quota.pages, f"{key}-pages"),
            ui.number("Tokens a day", 0, 100_000_000_000, quota.tokens, f"{key}-tokens"),
            float(st.number_input("US dollars a day", 0.0, 1e6, quota.dollars, key=f"{key}-dollars")),
        )
        if st.form_submit_button("Save quotas", icon=":material/save:"):
            _as_admin("set_quota", person.id, values)
            st.rerun()


def _as_admin(act: str, person_id: str, *more: Any) -> None:
    """Do this as the admin who is signed in now."""
    client.submit(_act, act, person_id, *more, done="Saved.")


def _act(act: str, person_id: str, *more: Any) -> None:
    """Raises UsageError, also for who is no admin (any more)."""
    admin, accounts = client.require_person(), client.accounts()
    if not admin.is_admin:
        raise UsageError("only an admin may do this")
    people = accounts.people
    acts: dict[str, Callable[..., None]] = {
        "set_role": lambda role: people.set_role(admin, person_id, role),
        "sign_out_everywhere": lambda: people.sign_out_everywhere(admin, person_id),
        "release_address": lambda: people.release_address(admin, person_id),
        "let_in": lambda: people.set_blocked(admin, person_id, blocked=False),
        "block": lambda: client.benches().shut_out(admin, person_id),
        "set_quota": lambda quota: client.benches().set_quota(admin, person_id, quota),
    }
    acts[act](*more)
    if act in ("sign_out_everywhere", "block"):
        http_gate.end_sessions(person_id)
