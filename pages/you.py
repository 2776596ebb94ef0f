"""You: what you used today, your tokens, sign out here or everywhere, take your data along or delete it."""

from __future__ import annotations

import functools

import streamlit as st

from agent.accounts.people import Person
from agent.accounts.tokens import SCOPES, ApiToken
from agent.actions.personal_data import write_personal_data
from pages.widgets.shell import badges, client, drafts, empty_state, escape, markup, sign_in, ui

NAME_KEY, SCOPES_KEY = "you-token-name", "you-token-scopes"
MADE_KEY = "you-token-made"
"""The session key of a token's text, until the screen is left."""


def draw_tokens(owner: Person) -> None:
    """The form, the token just made, and the list."""
    st.html('<div class="ts"><h2 class="ts-section">Tokens for programs</h2></div>')
    st.caption("A program with a token acts for you. It is shown once; only its hash is stored.")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input("What will use it", key=NAME_KEY, max_chars=80, placeholder="e.g. the help bot")
        st.multiselect("For", list(SCOPES), key=SCOPES_KEY, format_func=SCOPES.__getitem__)
        ui.button("Make a token", "you-token-make", _create_token, icon="key")
    if text := st.session_state.get(MADE_KEY):
        st.success("Copy it now: it is not shown again.", icon=":material/key:")
        st.code(text, language=None, wrap_lines=True)
        ui.button("I have copied it", "you-token-copied", lambda: st.session_state.pop(MADE_KEY, None))
    tokens = client.accounts().tokens
    if not tokens.list(owner):
        empty_state.draw("No tokens yet", "A program needs one to ask this server for replies.")
    for token in tokens.list(owner):
        used = f"last used {token.used_at[:16].replace('T', ' ')}" if token.used_at else "never used"
        state = badges.render("revoked", "warn") if token.revoked_at else ""
        told = f"{escape.html(', '.join(token.scopes))} · made {token.created_at[:10]} · {used}"
        with st.container(horizontal=True, vertical_alignment="center"):
            st.html(
                f'<div class="ts"><b>{escape.html(token.name)}</b> {state}<br>'
                f'<span class="small soft">{told}</span></div>'
            )
            if not token.revoked_at:
                key, done = f"you-token-{token.id}", "The token holds no longer."
                ui.action("Revoke", key, tokens.revoke, owner, token.id, icon="block", done=done)
    hooks = client.workbench().worker.webhooks()
    if listed := hooks.list():
        ui.heading("Webhooks", "<span class='soft'>What is told when a run of yours comes to rest</span>")
    for hook in listed:
        by = hook.program and f"by program “{hook.program}” · "
        told = escape.html(f"{by}added {hook.added_at.partition('T')[0]} {hook.trouble}")
        with st.container(horizontal=True, vertical_alignment="center"):
            url = f'<div class="ts"><b>{escape.html(hook.url)}</b><br>'
            st.html(f'{url}<span class="small soft">{told}</span></div>')
            ui.action("Remove", f"you-webhook-{hook.id}", hooks.remove, hook.id, icon="delete")


def _create_token() -> None:
    owner = client.require_person()

    def keep(made: tuple[ApiToken, str]) -> None:
        st.session_state[MADE_KEY] = made[1]
        st.session_state[NAME_KEY] = ""

    name, scopes = st.session_state.get(NAME_KEY, ""), st.session_state.get(SCOPES_KEY, [])
    client.submit(client.accounts().tokens.create, owner, name, scopes, then=keep)


CONFIRM_KEY = "you-delete-confirm"
CONFIRM_TEXT = "delete my data"


def draw_data(owner: Person) -> None:
    """Both, below each other."""
    st.html('<div class="ts"><h2 class="ts-section">Your data</h2></div>')
    make = functools.partial(write_personal_data, client.workbench(), client.accounts(), owner)
    kind = ("touchstone-data.zip", "application/zip")
    ui.download("Export my data", "you-export", make, *kind, icon=":material/download:")
    st.caption("One zip: your database, each run as Markdown, and what the server knows of you. No keys.")
    saved = ", saved keys" if owner.folder else ""  # those of the first admin are the server's
    with st.expander("Delete my data", icon=":material/delete:", key="you-delete"):
        st.write(
            f"All your runs, pages, facts, batches, saved sites{saved} and drafts go into the bin "
            "of this server; your share links and tokens end. Whoever runs it can bring the data back until "
            "they empty it, and from older backups. Your account stays."
        )
        st.text_input(f"To do so, type: {CONFIRM_TEXT}", key=CONFIRM_KEY)
        is_sure = st.session_state.get(CONFIRM_KEY, "").strip().casefold() == CONFIRM_TEXT
        ui.button("Delete all of it", "you-delete-all", _delete_data, icon="delete", disabled=not is_sure)


def _delete_data() -> None:
    owner = client.require_person()
    if st.session_state.pop(CONFIRM_KEY, "").strip().casefold() == CONFIRM_TEXT:
        drafts.forget_unstored()
        client.submit(client.benches().delete_data, owner, done="Your data is in the bin of this server.")


owner = client.require_person()
client.show_notice("you")
role = "admin of this server" if owner.is_admin else "member"
st.html(
    f'<div class="ts"><h1 class="ts-question">{escape.html(owner.label)}</h1>'
    f'<p class="soft">{escape.html(owner.email)} · {role}</p></div>'
)
with st.container(horizontal=True):
    ui.button("Sign out", "you-sign-out", sign_in.sign_out, icon="logout")
    act, hint = sign_in.sign_out_everywhere, "Ends your sign-ins in all browsers and tabs, this one too"
    ui.button("Sign out everywhere", "you-sign-out-everywhere", act, icon="logout", help=hint)
quotas = client.accounts().quotas
quota, used = quotas.get(owner.id), quotas.sum_day(owner.id)
figures = [
    ("Runs at work", f"{len(client.workbench().runs(status='running'))} of {quota.runs}"),
    ("Pages", f"{used.pages:,} of {quota.pages:,}"),
    ("Tokens", f"{used.tokens:,} of {quota.tokens:,}"),
    ("Cost", f"${used.dollars:,.2f} of ${quota.dollars:,.2f}"),
]
ui.heading("Used today", markup.stats(figures))
st.caption("Counted anew from midnight (UTC); a model call under way counts with the most it may use.")
draw_tokens(owner)
draw_data(owner)
