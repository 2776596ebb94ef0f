"""The audit log on the people screen."""

from __future__ import annotations

import streamlit as st

from pages.widgets.shell import client, escape, markup

SHOWN = 100


def draw() -> None:
    """The newest entries, with names for ids."""
    accounts = client.accounts()
    names = {person.id: person.label for person in accounts.people.list()}

    def name(text: str) -> str:
        for person_id, label in names.items():
            text = text.replace(person_id, label)
        return escape.html(text)

    rows = [
        [
            escape.html(entry.at[:19].replace("T", " ")),
            name(entry.actor),
            escape.html(entry.action),
            name(entry.target),
        ]
        for entry in accounts.audit.list(SHOWN)
    ]
    table = markup.table(["When (UTC)", "Who", "What", "To what"], rows, "stacked")
    st.html(f'<div class="ts"><h2 class="ts-section">Audit log</h2>{table}</div>')
    st.caption(f"The newest {SHOWN}. All of it is in accounts.db, table audit.")
