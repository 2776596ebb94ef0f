"""You: what you used today, your tokens, sign out here or everywhere, take your data along or delete it."""

from __future__ import annotations

import streamlit as st

from pages.widgets.people import own_data, token_list, usage
from pages.widgets.shell import client, escape, sign_in, ui

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
usage.draw(owner)
token_list.draw(owner)
own_data.draw(owner)
