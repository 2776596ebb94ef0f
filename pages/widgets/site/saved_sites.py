"""Saved sites: choosing one fills in the form; saving one stores what the form says."""

from __future__ import annotations

import streamlit as st

from agent.types import Settings
from pages.widgets.forms import source_filter_form
from pages.widgets.shell import client, drafts, escape, ui

CHOSEN_KEY, NAME_KEY = "site-desk", "site-desk-name"


def draw_choice() -> None:
    """The saved sites as pills; nothing when there are none."""
    sites = client.workbench().store.saved_sites.all()
    if not sites:
        return
    with st.container(horizontal=True, vertical_alignment="bottom", key="site-desks"):
        st.pills("Saved sites", list(sites), key=CHOSEN_KEY, format_func=escape.md, on_change=_fill_form)
        chosen = st.session_state.get(CHOSEN_KEY)
        if chosen in sites:
            told, name = {"icon": "delete", "type": "tertiary"}, "site-desk-forget"
            ui.button("Delete this saved site", name, _delete, chosen, **told)


def draw_save(settings: Settings) -> None:
    """A name for the site above, and the button that saves it with its instructions, domains and limits."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="site-keep"):
        st.text_input("Name", key=NAME_KEY, max_chars=80, placeholder="e.g. Kallsteg support")
        ui.button("Save this site", "site-desk-keep", _save, settings, icon="bookmark_add")


def _save(settings: Settings) -> None:
    name = (st.session_state.get(NAME_KEY) or "").strip()
    client.submit(
        client.workbench().save_site,
        name,
        settings,
        done=f"The site “{name}” is saved.",
        then=lambda _: st.session_state.update({NAME_KEY: ""}),
    )


def _delete(name: str) -> None:
    st.session_state.pop(CHOSEN_KEY, None)
    client.submit(
        client.workbench().store.saved_sites.drop,
        name,
        done=f"The saved site “{name}” is deleted; its conversations stay.",
    )


def _fill_form() -> None:
    site = client.workbench().store.saved_sites.all().get(st.session_state.get(CHOSEN_KEY) or "")
    if site is None:
        return
    fields = source_filter_form.to_session_values("site", site)
    limits = {f"site-{name}": value for name, value in site.site}
    filled = {"site-domains-filled-in": fields["site-allowed_domains"], "site-world": site.world}
    st.session_state.update({**fields, **limits, **filled})
    drafts.write("site:question", "\n".join([*site.start_urls, ""]))
    drafts.write("site:instruction", site.instruction)
