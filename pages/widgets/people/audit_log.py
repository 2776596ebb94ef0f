"""The audit log on the people screen."""

from __future__ import annotations

import re

import streamlit as st

from pages.widgets.shell import client, escape, markup

SHOWN = 100


def draw() -> None:
    """The newest entries, with names for ids."""
    accounts = client.accounts()
    people = accounts.people.list()
    names = {one.id: f"{one.label} ({one.email or one.id})" for one in people}  # anybody may choose a name

    def name(text: str) -> str:
        return escape.html(re.sub(r"\b[0-9a-f]{32}\b", lambda found: names.get(found[0], found[0]), text))

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
