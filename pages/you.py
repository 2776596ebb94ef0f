"""You: what you used today, your tokens, sign out here or everywhere, take your data along or delete it."""

from __future__ import annotations

import streamlit as st

from pages.widgets.people import own_data, token_list
from pages.widgets.shell import client, escape, markup, sign_in, ui

owner = client.require_person()
client.show_notice("you")
role = "admin of this server" if owner.is_admin else "member"
st.html(
    f'<div class="ts"><h1 class="ts-question">{escape.html(owner.label)}</h1>'
    f'<p class="soft">{escape.html(owner.email)} · {role}</p></div>'
)
with st.container(horizontal=True):
    ui.button("Sign out", "you-sign-out", sign_in.sign_out, icon="logout")
    ui.button(
        "Sign out everywhere",
        "you-sign-out-everywhere",
        sign_in.sign_out_everywhere,
        icon="logout",
        help="Ends your sign-ins in all browsers and tabs, this one too",
    )
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
token_list.draw(owner)
own_data.draw(owner)
