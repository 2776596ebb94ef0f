"""People, for admins: who signs in here, their roles and quotas, and the audit log."""

from __future__ import annotations

import streamlit as st

from pages.widgets.people import audit_log, person_row
from pages.widgets.shell import client, empty_state, escape, ui

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
    for person in client.accounts().people.list():
        person_row.draw(admin, person)
    audit_log.draw()
else:
    st.title("No such screen")
    empty_state.draw("There is nothing here", "Go on with your own research.")
    ui.link("pages/research.py", "Ask a question", "travel_explore")
