"""People, for admins: who signs in here, their roles and quotas, and the audit log."""

from __future__ import annotations

import re

import streamlit as st

from pages.widgets.people import person_row
from pages.widgets.shell import client, empty_state, escape, markup, ui

admin = client.require_person()
client.show_notice("people")
if admin.is_admin:
    st.html(
        '<div class="ts"><h1 class="ts-question">People</h1><p class="soft">Who signs in here. '
        "An admin changes roles and quotas and sees the log, but no runs and no keys of others.</p></div>"
    )
    if trusted := client.benches().config.SIGN_IN_TRUSTED_ISSUERS:
        st.warning(
            f"Addresses count as proven without a word of the provider: {escape.md(', '.join(trusted))}."
        )
    everybody = client.accounts().people.list()
    names = {one.id: f"{one.label} ({one.email or one.id})" for one in everybody}  # a name may be anybody's
    for person in everybody:
        person_row.draw(admin, person)
    rows = [
        [
            escape.html(re.sub(r"\b[0-9a-f]{32}\b", lambda found: names.get(found[0], found[0]), text))
            for text in (entry.at[:19].replace("T", " "), entry.actor, entry.action, entry.target)
        ]
        for entry in client.accounts().audit.list(100)
    ]
    head = ["When (UTC)", "Who", "What", "To what"]
    ui.heading("Audit log", markup.table(head, rows, "stacked"))
    st.caption("The newest 100. All of it is in accounts.db, table audit.")
else:
    st.title("No such screen")
    empty_state.draw("There is nothing here", "Go on with your own research.")
    ui.link("pages/research.py", "Ask a question", "travel_explore")
