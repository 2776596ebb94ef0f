"""The first screen of Ask a site: which site, which question, how; saved sites; examples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from agent.text.plurals import format_count
from agent.text.urls import complete_typed_url, host
from agent.types import Settings, SiteLimits
from pages.widgets.forms import form_page
from pages.widgets.shell import client, drafts, escape, labels, ui
from pages.widgets.site import saved_sites

FORM = form_page.Form(
    flow="site",
    title="Ask a site.",
    text="Name the site and ask. Touchstone reads the pages most likely to answer, quotes them, keeps the "
    "conversation in mind, and says so when the site does not answer.",
    intro="Invented sites, no network.",
    recent_title="Your latest conversations",
    nothing_recent=("Nothing asked yet", "Enter a start page and a question above, or try an example."),
)
QUESTION, STARTS, INSTRUCTION = "site:question", "site:starts", "site:instruction"
ALLOWED_KEY, PREFILLED_KEY = "site-allowed", "site-allowed-filled-in"
"""The field of allowed domains; what was filled in is replaced as long as it is left alone."""
LIMIT_FIELDS = {
    "max_iterations": ("Maximum rounds of reading", 1, 20),
    "max_pages": ("Maximum pages per question", 1, 500),
    "max_urls_per_iteration": ("Pages chosen per round", 1, 50),
    "crawl_ahead": ("Pages fetched per round, with those read ahead", 0, 50),
    "fresh_days": ("Reuse a stored page for (days)", 0, 365),
    "max_links_per_page": ("Maximum links per page", 10, 5000),
    "content_max_chars": ("Characters of a page shown to the model", 500, 100_000),
    "links_max_chars": ("Characters of an address shown to the model", 40, 4000),
    "url_truncation_buffer": ("Characters reserved for the truncation mark", 3, 30),
}


def draw() -> None:
    """The whole screen."""
    form_page.draw_head(FORM)
    saved_sites.draw_choice()
    with st.container(key="site-ask"):
        drafts.text_area(
            "Start pages, one per line", STARTS, placeholder="https://www.example.com/", height=80
        )
        hint = "e.g. What is your return policy?"
        drafts.text_area("Your question", QUESTION, placeholder=hint, height=90)
        settings = _draw_settings()
    examples = [
        (form_page.label_example(example), (example, settings)) for example in form_page.list_examples("site")
    ]
    form_page.draw_examples(FORM, examples, _start_example)
    form_page.draw_recent(FORM, _list_recent())


def split_lines(text: str) -> list[str]:
    """The lines of a field, blanks and doubles left out."""
    return list(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))


def _draw_settings() -> Settings:
    _prefill_domains()
    left, right = st.columns(2, gap="medium")
    with left:
        hint = "e.g. Prefer the FAQ and official policies."
        drafts.text_area("Instructions (optional)", INSTRUCTION, placeholder=hint, height=80)
    with right:
        st.text_area(
            "Domains that may be read, one per line",
            key=ALLOWED_KEY,
            height=80,
            placeholder="empty: every domain",
            help="The hosts of your start pages, unless you change it. "
            "*.example.com takes in its subdomains; "
            "empty means no limit.",
        )
    return form_page.draw_settings(
        FORM,
        ("Ask", "forum"),
        _start_typed,
        _draw_options,
        lambda settings, _: [
            f"up to {format_count(settings.site.max_pages, 'page')}",
            f"inside {', '.join(settings.allowed_domains) or 'every domain'}",
        ],
        extra=saved_sites.draw_save_button,
        allowed=False,
    )


def _prefill_domains() -> None:
    urls = map(complete_typed_url, split_lines(drafts.read(STARTS)))
    hosts = "\n".join(dict.fromkeys(host(url) for url in urls if host(url)))
    untouched = st.session_state.get(ALLOWED_KEY) in (None, "", st.session_state.get(PREFILLED_KEY))
    if untouched and st.session_state.get(PREFILLED_KEY) != hosts:
        st.session_state[ALLOWED_KEY] = st.session_state[PREFILLED_KEY] = hosts


def _draw_options(_: str) -> Settings:
    plain, state = SiteLimits().model_dump(), st.session_state
    world, model = form_page.choose_world("site"), form_page.choose_model("site")
    limits = {
        name: ui.number(label, low, high, state.get(f"site-{name}", plain[name]), f"site-{name}")
        for name, (label, low, high) in LIMIT_FIELDS.items()
    }
    return Settings(
        flow="site",
        at_cap="ask",
        world=world,
        model=model,
        site=SiteLimits(**limits),
        start_urls=split_lines(drafts.read(STARTS)),
        allowed_domains=[name.lower() for name in split_lines(state.get(ALLOWED_KEY) or "")],
        instruction=drafts.read(INSTRUCTION).strip(),
    )


def _start_typed(settings: Settings) -> None:
    form_page.start_run(client.workbench().start, drafts.read(QUESTION), settings, sent=[QUESTION])


def _start_example(example: Mapping[str, Any], settings: Settings) -> None:
    settings = form_page.fit_settings(example, settings.model_copy(update={"instruction": ""}))
    form_page.start_run(client.workbench().start, example["question"], settings)


def _list_recent() -> list[form_page.RecentLink]:
    bench, links = client.workbench(), []
    for run in form_page.find_recent("site", first_turns=True):
        site = escape.host(run.settings.start_urls[0]) if run.settings.start_urls else ""
        remark = f"{site}, {labels.format_age(run.updated_at)}"
        links.append(form_page.link_run(run, remark, bench.thread(run.id)[-1]))
    return links
