"""What a person used today, beside their quotas."""

from __future__ import annotations

import streamlit as st

from agent.accounts.people import Person
from pages.widgets.shell import client, markup


def draw(owner: Person) -> None:
    """The figures of today."""
    quotas = client.accounts().quotas
    quota, used = quotas.get(owner.id), quotas.sum_day(owner.id)
    working = len(client.workbench().runs(status="running"))
    figures = [
        ("Runs at work", f"{working} of {quota.runs}"),
        ("Pages", f"{used.pages:,} of {quota.pages:,}"),
        ("Tokens", f"{used.tokens:,} of {quota.tokens:,}"),
        ("Cost", f"${used.dollars:,.2f} of ${quota.dollars:,.2f}"),
    ]
    st.html(f'<div class="ts"><h2 class="ts-section">Used today</h2>{markup.stats(figures)}</div>')
    st.caption(
        "Pages, tokens and cost begin anew at midnight (UTC); a model call under way counts with the most it "
        "may use. An admin can change your quotas."
    )
