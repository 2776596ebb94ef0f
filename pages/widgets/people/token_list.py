"""A person's API tokens: make one, see it once, revoke it."""

from __future__ import annotations

import streamlit as st

from agent.accounts.people import Person
from agent.accounts.tokens import SCOPES, ApiToken
from pages.widgets.shell import badges, client, empty_state, escape, ui

NAME_KEY, SCOPES_KEY = "you-token-name", "you-token-scopes"
MADE_KEY = "you-token-made"
"""The session key of a token's text, until the screen is left."""


def draw(owner: Person) -> None:
    """The form, the token just made, and the list."""
    st.html('<div class="ts"><h2 class="ts-section">Tokens for programs</h2></div>')
    st.caption("A program with a token acts for you. It is shown once; only its hash is stored.")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input("What will use it", key=NAME_KEY, max_chars=80, placeholder="e.g. the help bot")
        st.multiselect("For", list(SCOPES), key=SCOPES_KEY, format_func=SCOPES.__getitem__)
        ui.button("Make a token", "you-token-make", _create, icon="key")
    if text := st.session_state.get(MADE_KEY):
        st.success("Copy it now: it is not shown again.", icon=":material/key:")
        st.code(text, language=None, wrap_lines=True)
        ui.button("I have copied it", "you-token-copied", lambda: st.session_state.pop(MADE_KEY, None))
    tokens = client.accounts().tokens.list(owner)
    if not tokens:
        empty_state.draw("No tokens yet", "A program needs one to ask this server for replies.")
    for token in tokens:
        _draw_token(token)


def _create() -> None:
    owner = client.require_person()

    def keep(made: tuple[ApiToken, str]) -> None:
        st.session_state[MADE_KEY] = made[1]
        st.session_state[NAME_KEY] = ""

    name, scopes = st.session_state.get(NAME_KEY, ""), st.session_state.get(SCOPES_KEY, [])
    client.submit(client.accounts().tokens.create, owner, name, scopes, then=keep)


def _draw_token(token: ApiToken) -> None:
    used = f"last used {token.used_at[:16].replace('T', ' ')}" if token.used_at else "never used"
    state = badges.render("revoked", "warn") if token.revoked_at else ""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.html(
            f'<div class="ts"><b>{escape.html(token.name)}</b> {state}<br><span class="small soft">'
            f"{escape.html(', '.join(token.scopes))} · made {token.created_at[:10]} · {used}</span></div>"
        )
        if not token.revoked_at:
            ui.button("Revoke", f"you-token-{token.id}", _revoke, token.id, icon="block")


def _revoke(token_id: str) -> None:
    owner = client.require_person()
    client.submit(client.accounts().tokens.revoke, owner, token_id, done="The token holds no longer.")
