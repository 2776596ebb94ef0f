"""The first screen of Ask a site: which site, which question, how; sites kept as desks; examples that need no network."""

from __future__ import annotations

import streamlit as st

from agent.types import Settings, SiteLimits
from agent.urls import host, typed
from agent.wording import counted
from pages.widgets import choices, door, drafts, safe, site_desks, sources, words

QUESTION, QUESTION_DRAFT = "site-question", "site:question"
STARTS, STARTS_DRAFT = "site-starts", "site:starts"
INSTRUCTION, INSTRUCTION_DRAFT = "site-instruction", "site:instruction"
ALLOWED, FILLED_IN = "site-allowed", "site-allowed-filled-in"
"""The field of allowed domains, and what was filled in for the person: replaced as long as they left it alone."""
WORLD = "site-world"
LIMITS = {
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
    door.show_notice("site")
    drafts.keep()
    site_desks.choose()
    with st.container(key="site-ask"):
        drafts.area("Start pages, one a line", STARTS, STARTS_DRAFT, placeholder="https://www.example.com/", height=80)
        drafts.area("Your question", QUESTION, QUESTION_DRAFT, placeholder="e.g. What is your return policy?", height=90)
        settings = _choices()
    _examples(settings)
    _recent()


def lines(text: str) -> list[str]:
    """The lines of a field, blanks and doubles left out."""
    return list(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))


def _choices() -> Settings:
    _fill_in()
    instruction_at, allowed_at = st.columns(2, gap="medium")
    with instruction_at:
        hint = "e.g. Prefer the FAQ and official policies."
        drafts.area("How to look and answer (if you like)", INSTRUCTION, INSTRUCTION_DRAFT, placeholder=hint, height=80)
    with allowed_at:
        st.text_area(
            "Domains that may be read, one a line", key=ALLOWED, height=80, placeholder="empty: every domain",
            help="The hosts of your start pages, unless you change it. *.example.com takes in its subdomains; empty means no limit.",
        )  # fmt: skip
    with st.container(horizontal=True, vertical_alignment="center"):
        start = st.container(width="content")
        with st.popover("Options", icon=":material/tune:", key="site-options"):
            settings = _options()
        settings = settings.model_copy(update=sources.form("site", allowed=False))
        with st.popover("Keep as a desk", icon=":material/bookmark_add:", key="site-keep"):
            site_desks.keep(settings)
    with start:
        st.button("Ask", type="primary", icon=":material/forum:", key="site-start", on_click=_start, args=(settings,))
    inside = ", ".join(settings.allowed_domains) or "every domain"
    limit = f"up to {counted(settings.site.max_pages, 'page')}"
    choices.told(settings, limit, f"inside {inside}", sources.brief(settings, allowed=False))
    return settings


def _fill_in() -> None:
    hosts = "\n".join(dict.fromkeys(host(url) for url in map(typed, lines(st.session_state.get(STARTS) or "")) if host(url)))
    if st.session_state.get(ALLOWED) in (None, "", st.session_state.get(FILLED_IN)) and st.session_state.get(FILLED_IN) != hosts:
        st.session_state[ALLOWED] = st.session_state[FILLED_IN] = hosts


def _options() -> Settings:
    world, model = choices.world("Where to read", "site"), choices.model("site")
    plain = SiteLimits().model_dump()
    chosen = {
        name: int(st.number_input(label, low, high, st.session_state.get(f"site-{name}", plain[name]), key=f"site-{name}"))
        for name, (label, low, high) in LIMITS.items()
    }
    state = st.session_state
    return Settings(
        flow="site", at_cap="ask", world=world, model=model, site=SiteLimits(**chosen), start_urls=lines(state.get(STARTS) or ""),
        allowed_domains=[name.lower() for name in lines(state.get(ALLOWED) or "")], instruction=(state.get(INSTRUCTION) or "").strip(),
    )  # fmt: skip


def _start(settings: Settings) -> None:
    def opened(run_id: str) -> None:
        st.query_params["run"] = run_id
        drafts.sent(QUESTION, QUESTION_DRAFT)

    door.tell(door.workbench().start, st.session_state.get(QUESTION) or "", settings, then=opened)


def _example(start: str, question: str, settings: Settings) -> None:
    asked = settings.model_copy(update={"world": "demo", "start_urls": [start], "allowed_domains": [host(start)], "instruction": ""})
    door.tell(door.workbench().start, question, asked, then=lambda run_id: st.query_params.update({"run": run_id}))


def _examples(settings: Settings) -> None:
    labels = [f"{safe.md(question)}  \n:gray[{safe.md(safe.address(start))}]" for start, question in EXAMPLES]
    choices.examples("site", "Invented sites, no network.", labels, _example, [(*example, settings) for example in EXAMPLES])
    choices.offline(settings)


def _recent() -> None:
    bench = door.workbench()
    runs = [run for run in bench.runs() if run.settings.flow == "site" and not run.settings.thread_id][:5]
    sites = {run.id: safe.host(run.settings.start_urls[0]) if run.settings.start_urls else "" for run in runs}
    told = {bench.thread(run.id)[-1]: (run, f"{sites[run.id]}, {words.ago(run.updated_at)}") for run in runs}
    nothing = ("Nothing asked yet", "Name a start page and a question above, or take one of the examples.")
    choices.recent("site", "Your latest conversations", told, nothing)
