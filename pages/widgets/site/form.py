"""The first screen of Ask a site: one field for the address and the question, the rest folded; examples."""

from __future__ import annotations

from itertools import takewhile
from typing import Any

import streamlit as st

from agent.text.plurals import format_count
from agent.text.urls import canonicalize, complete_typed_url, find_urls, host
from agent.types import Settings
from pages.widgets.forms import form_page, limit_fields, source_filter_form
from pages.widgets.shell import client, drafts, escape, ui

QUESTION, INSTRUCTION = "site:question", "site:instruction"
DOMAINS_KEY, PREFILLED_KEY = "site-allowed_domains", "site-domains-filled-in"
"""The field of allowed domains; what was filled in is replaced as long as it is left alone."""
CHOSEN_KEY, NAME_KEY = "site-desk", "site-desk-name"


def draw() -> None:
    """The whole screen."""
    form_page.draw(FORM)


def read_request(text: str) -> tuple[list[str], str]:
    """The start pages and the question of a text that begins with addresses, or holds some."""
    words = text.split()
    named = (complete_typed_url(word.rstrip(",;:")) for word in words)
    starts = list(takewhile(canonicalize, named))
    return list(dict.fromkeys(starts or find_urls(text))), " ".join(words[len(starts) :])


def _draw_fields() -> None:
    _draw_saved()
    hint = "www.example.com  What is your return policy?"
    drafts.text_area(
        "The site’s address, then your question", QUESTION, placeholder=hint, height=90, cuts=False
    )
    hosts = ", ".join(_list_hosts())
    untouched = st.session_state.get(DOMAINS_KEY) in (None, "", st.session_state.get(PREFILLED_KEY))
    if untouched and st.session_state.get(PREFILLED_KEY) != hosts:
        st.session_state[DOMAINS_KEY] = st.session_state[PREFILLED_KEY] = hosts


def _list_hosts() -> list[str]:
    """The hosts of the start pages that stand in the field."""
    return list(dict.fromkeys(filter(None, map(host, read_request(drafts.read(QUESTION))[0]))))


def _draw_options(settings: Settings) -> dict[str, Any]:
    hint = "e.g. Prefer the FAQ and official policies."
    instruction = drafts.text_area("Instructions (optional)", INSTRUCTION, placeholder=hint, height=80)
    starts, _ = read_request(drafts.read(QUESTION))
    limits = limit_fields.draw(settings.site, "site")
    return {"site": limits, "start_urls": starts, "instruction": instruction.strip()}


def _start(settings: Settings, example: form_page.Example | None) -> str:
    if example:
        return client.workbench().start(example["question"], settings.replace(instruction=""))
    starts, question = read_request(drafts.read(QUESTION))  # as it stands at the click
    if settings.start_urls != starts and settings.allowed_domains == list(map(host, settings.start_urls)):
        settings = settings.replace(allowed_domains=_list_hosts())
    return client.workbench().start(question, settings.replace(start_urls=starts))


def _draw_saved() -> None:
    """The saved sites as pills; nothing when there are none."""
    sites = client.workbench().store.saved_sites.all()
    if not sites:
        return
    with st.container(horizontal=True, vertical_alignment="bottom", key="site-desks"):
        st.pills("Saved sites", list(sites), key=CHOSEN_KEY, format_func=escape.md, on_change=_fill_form)
        chosen = st.session_state.get(CHOSEN_KEY)
        if chosen in sites:
            told, name = {"icon": "delete", "type": "tertiary"}, "site-desk-forget"
            ui.button("Delete this saved site", name, _delete_site, chosen, **told)


def _draw_saving(settings: Settings) -> None:
    """A name for the site above, and the button that saves it with its instructions, domains and limits."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="site-keep"):
        st.text_input("Name", key=NAME_KEY, max_chars=80, placeholder="e.g. Kallsteg support")
        ui.button("Save this site", "site-desk-keep", _save_site, settings, icon="bookmark_add")


def _save_site(settings: Settings) -> None:
    name = (st.session_state.get(NAME_KEY) or "").strip()
    client.submit(
        client.workbench().save_site,
        name,
        settings,
        done=f"The site “{name}” is saved.",
        then=lambda _: st.session_state.update({NAME_KEY: ""}),
    )


def _delete_site(name: str) -> None:
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
    filled = {PREFILLED_KEY: fields[DOMAINS_KEY], "site-world": site.world}
    st.session_state.update({**fields, **limits, **filled})
    drafts.write(QUESTION, "\n".join([*site.start_urls, ""]))
    drafts.write(INSTRUCTION, site.instruction)


FORM = form_page.RunForm(
    flow="site",
    title="Ask a site.",
    text="Name the site and ask. Touchstone reads the pages most likely to answer, quotes them, keeps the "
    "conversation in mind, and says so when the site does not answer.",
    intro="Invented sites, no network.",
    recent_title="Your latest conversations",
    nothing_recent=("Nothing asked yet", "Enter an address and a question above, or try an example."),
    button=("Ask", "forum"),
    sent=(QUESTION,),
    draw_fields=_draw_fields,
    draw_options=_draw_options,
    draw_last=_draw_saving,
    describe=lambda settings: [f"up to {format_count(settings.site.max_pages, 'page')}"],
    start=_start,
)
