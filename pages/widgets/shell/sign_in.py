"""The login before every screen, where the server has one: who is signed in, or the page to sign in."""

from __future__ import annotations

from urllib.parse import urlsplit

import streamlit as st
from streamlit.auth_util import get_origin_from_redirect_uri

from agent.accounts.people import Person
from agent.errors import SignInRefused
from pages.widgets.shell import client, escape, http_gate, ui


def require_sign_in() -> Person | None:
    """Who is signed in, None where nobody signs in; else draws the page to sign in and ends the script."""
    try:
        owner = client.person()
    except SignInRefused as refused:
        draw(str(refused))
        st.stop()
    if owner:
        http_gate.remember_session(owner.id)
    return owner


def is_open() -> bool:
    """May the screens be seen in this session?"""
    try:
        client.person()
    except SignInRefused:
        return False
    return True


def draw(reason: str) -> None:
    """The page to sign in, with why there is nobody signed in."""
    st.html('<div class="ts"><h1 class="ts-question">Sign in</h1></div>')
    had = bool(client.read_claims())
    st.write("Your research on this server is yours alone: sign in to see it.")
    if had:
        st.warning(escape.md(f"{reason[:1].upper()}{reason[1:]}."), icon=":material/lock:")
    if other := _find_other_address():
        st.info(f"Sign in at [{escape.md(other)}]({other}): the login knows this server by that address.")
        return
    with st.container(horizontal=True):
        ui.button("Sign in", "sign-in", st.login, icon="login", type="primary")
        if had:
            ui.button("Use another account", "sign-out", st.logout, icon="logout")


def sign_out() -> None:
    """End the sign-in of this browser. As a button's callback."""
    client.accounts().people.sign_out(client.read_claims())
    st.logout()


def sign_out_everywhere() -> None:
    """End every sign-in of who is signed in here. As a button's callback."""
    owner = client.require_person()
    client.accounts().people.sign_out_everywhere(owner, owner.id)
    http_gate.end_sessions(owner.id)
    st.logout()


def _find_other_address() -> str:
    """The address of this server that the login knows, when the browser uses another one."""
    known, used = get_origin_from_redirect_uri() or "", urlsplit(st.context.url or "")
    is_same = not used.netloc or known == f"{used.scheme}://{used.netloc}"
    return "" if is_same else known
