"""The first screen of Ask a site: one field for the address and the question, the rest folded; examples."""

from __future__ import annotations

from itertools import takewhile
from typing import Any

import streamlit as st

from agent.text.plurals import format_count
from agent.text.urls import canonicalize, complete_typed_url, find_urls, host
from agent.types import Settings
from pages.widgets.forms import form_page, limit_fields
from pages.widgets.shell import client, drafts
from pages.widgets.site import saved_sites

QUESTION, INSTRUCTION = "site:question", "site:instruction"
DOMAINS_KEY, PREFILLED_KEY = "site-allowed_domains", "site-domains-filled-in"
"""The field of allowed domains; what was filled in is replaced as long as it is left alone."""


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
    saved_sites.draw_choice()
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
    draw_last=saved_sites.draw_save,
    describe=lambda settings: [f"up to {format_count(settings.site.max_pages, 'page')}"],
    start=_start,
)
