"""The first screen of Ask a site: which site, which question, how; sites kept as desks; examples that need no
network."""

from __future__ import annotations

import streamlit as st

from agent.text.plurals import format_count
from agent.text.urls import complete_typed_url, host
from agent.types import Settings, SiteLimits
from pages.widgets.forms import form_fields, source_filter_form
from pages.widgets.shell import client, drafts, escape, ui
from pages.widgets.shell import labels as labels_module
from pages.widgets.site import saved_sites

QUESTION_KEY, QUESTION_DRAFT = "site-question", "site:question"
STARTS_KEY, STARTS_DRAFT = "site-starts", "site:starts"
INSTRUCTION_KEY, INSTRUCTION_DRAFT = "site-instruction", "site:instruction"
ALLOWED_KEY, PREFILLED_KEY = "site-allowed", "site-allowed-filled-in"
"""The field of allowed domains, and what was filled in for the person: replaced as long as they left it
alone."""
WORLD_KEY = "site-world"
LIMIT_FIELDS = {
    "max_iterations": ("Explorations before the answer is due", 1, 20),
    "max_pages": ("Pages read for one question", 1, 500),
    "max_urls_per_iteration": ("Pages read side by side in one exploration", 1, 50),
    "max_links_per_page": ("Links kept of one page", 10, 5000),
    "content_max_chars": ("Characters of a page a model is shown", 500, 100_000),
    "links_max_chars": ("Characters of an address a model is shown", 40, 4000),
    "url_truncation_buffer": ("Room for the mark of a shortened address", 3, 30),
}
EXAMPLES = (
    ("https://kallsteg.example/", "How do I return a Kallsteg C2 logger?"),
    ("https://kallsteg.example/support/", "What does error E17 mean?"),
    ("https://www.alvmora-mejeri.example/", "How many people work at the dairy?"),
)


def draw() -> None:
    """The whole screen."""
    st.html(
        '<div class="ts ts-hero"><h1>Ask a site.</h1><p>Name the site and ask. Touchstone reads the pages that promise an answer, quotes them, '
        "keeps the conversation in mind, and says so when the site does not answer.</p></div>"
    )
    client.show_notice("site")
    drafts.install_script()
    saved_sites.draw_choice()
    with st.container(key="site-ask"):
        drafts.text_area(
            "Start pages, one a line",
            STARTS_KEY,
            STARTS_DRAFT,
            placeholder="https://www.example.com/",
            height=80,
        )
        drafts.text_area(
            "Your question",
            QUESTION_KEY,
            QUESTION_DRAFT,
            placeholder="e.g. What is your return policy?",
            height=90,
        )
        settings = _draw_settings()
    _draw_examples(settings)
    _draw_recent()


def split_lines(text: str) -> list[str]:
    """The lines of a field, blanks and doubles left out."""
    return list(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))


def _draw_settings() -> Settings:
    _prefill_domains()
    instruction_at, allowed_at = st.columns(2, gap="medium")
    with instruction_at:
        hint = "e.g. Prefer the FAQ and official policies."
        drafts.text_area(
            "How to look and answer (if you like)",
            INSTRUCTION_KEY,
            INSTRUCTION_DRAFT,
            placeholder=hint,
            height=80,
        )
    with allowed_at:
        st.text_area(
            "Domains that may be read, one a line",
            key=ALLOWED_KEY,
            height=80,
            placeholder="empty: every domain",
            help="The hosts of your start pages, unless you change it. *.example.com takes in its subdomains; empty means no limit.",
        )
    with st.container(horizontal=True, vertical_alignment="center"):
        start = st.container(width="content")
        with st.popover("Options", icon=":material/tune:", key="site-options"):
            settings = _draw_options()
        settings = settings.model_copy(update=source_filter_form.draw("site", allowed=False))
        with st.popover("Save this site", icon=":material/bookmark_add:", key="site-keep"):
            saved_sites.draw_save_form(settings)
    with start:
        ui.button("Ask", "site-start", _start_typed, settings, icon="forum", type="primary")
    inside = ", ".join(settings.allowed_domains) or "every domain"
    limit = f"up to {format_count(settings.site.max_pages, 'page')}"
    form_fields.draw_summary(
        settings, limit, f"inside {inside}", source_filter_form.summarize(settings, allowed=False)
    )
    return settings


def _prefill_domains() -> None:
    hosts = "\n".join(
        dict.fromkeys(
            host(url)
            for url in map(complete_typed_url, split_lines(st.session_state.get(STARTS_KEY) or ""))
            if host(url)
        )
    )
    if (
        st.session_state.get(ALLOWED_KEY) in (None, "", st.session_state.get(PREFILLED_KEY))
        and st.session_state.get(PREFILLED_KEY) != hosts
    ):
        st.session_state[ALLOWED_KEY] = st.session_state[PREFILLED_KEY] = hosts


def _draw_options() -> Settings:
    world, model = form_fields.choose_world("Search in", "site"), form_fields.choose_model("site")
    plain = SiteLimits().model_dump()
    chosen = {
        name: int(
            st.number_input(
                label, low, high, st.session_state.get(f"site-{name}", plain[name]), key=f"site-{name}"
            )
        )
        for name, (label, low, high) in LIMIT_FIELDS.items()
    }
    state = st.session_state
    return Settings(
        flow="site",
        at_cap="ask",
        world=world,
        model=model,
        site=SiteLimits(**chosen),
        start_urls=split_lines(state.get(STARTS_KEY) or ""),
        allowed_domains=[name.lower() for name in split_lines(state.get(ALLOWED_KEY) or "")],
        instruction=(state.get(INSTRUCTION_KEY) or "").strip(),
    )


def _start_typed(settings: Settings) -> None:
    def opened(run_id: str) -> None:
        st.query_params["run"] = run_id
        drafts.clear(QUESTION_KEY, QUESTION_DRAFT)

    client.submit(client.workbench().start, st.session_state.get(QUESTION_KEY) or "", settings, then=opened)


def _start_example(start: str, question: str, settings: Settings) -> None:
    asked = settings.model_copy(
        update={"world": "demo", "start_urls": [start], "allowed_domains": [host(start)], "instruction": ""}
    )
    client.submit(
        client.workbench().start, question, asked, then=lambda run_id: st.query_params.update({"run": run_id})
    )


def _draw_examples(settings: Settings) -> None:
    labels = [
        f"{escape.md(question)}  \n:gray[{escape.md(escape.shorten_url(start))}]"
        for start, question in EXAMPLES
    ]
    form_fields.draw_examples(
        "site",
        "Invented sites, no network.",
        labels,
        _start_example,
        [(*example, settings) for example in EXAMPLES],
    )
    form_fields.draw_offline_note(settings)


def _draw_recent() -> None:
    bench = client.workbench()
    runs = [run for run in bench.runs() if run.settings.flow == "site" and not run.settings.thread_id][:5]
    sites = {
        run.id: escape.host(run.settings.start_urls[0]) if run.settings.start_urls else "" for run in runs
    }
    told = {
        bench.thread(run.id)[-1]: (run, f"{sites[run.id]}, {labels_module.format_age(run.updated_at)}")
        for run in runs
    }
    nothing = ("Nothing asked yet", "Name a start page and a question above, or take one of the examples.")
    form_fields.draw_recent("site", "Your latest conversations", told, nothing)
