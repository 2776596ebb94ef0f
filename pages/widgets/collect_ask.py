"""The first screen of Collect: what to gather, where to start, how; examples that need no network; the latest runs."""

from __future__ import annotations

import re

import streamlit as st

from agent import collecting
from agent.types import CollectLimits, Settings
from agent.wording import counted
from pages.widgets import choices, door, drafts, safe, sources, words

PROMPT, PROMPT_DRAFT = "collect-prompt", "collect:prompt"
STARTS, STARTS_DRAFT = "collect-starts", "collect:starts"
EXAMPLES = (
    ("Go to the forum section and find out what people are saying about Kallsteg in the last month", "https://borskvart.example/stock/KALL"),
    ("Summarize Granvattnet news from last week", "https://granvattnet-courier.example/news/"),
    ("Summarize this article", "https://granvattnet-courier.example/2026/08/20/kallsteg-factory"),
)


def draw() -> None:
    """The whole screen."""
    st.html(
        '<div class="ts ts-hero"><h1>Gather from a site.</h1><p>Name a page to start from and say what you want. Touchstone decides at each page '
        "whether it is content, a list or a way on, takes whole articles and every post of a thread, and shows why it went where it went.</p></div>"
    )
    door.show_notice("collect")
    drafts.keep()
    with st.container(key="collect-ask"):
        drafts.area("What to gather", PROMPT, PROMPT_DRAFT, placeholder="e.g. What are members saying about … in the last month?", height=90)
        drafts.area("Start pages, one a line", STARTS, STARTS_DRAFT, placeholder="https://", height=80)
        settings = _choices()
    _examples(settings)
    _recent()


def _choices() -> Settings:
    with st.container(horizontal=True, vertical_alignment="center"):
        start = st.container(width="content")
        mode = st.segmented_control(
            "How it goes on", ["auto", "step"], default="auto", required=True, key="collect-mode", label_visibility="collapsed",
            format_func={"auto": "Automatic", "step": "Show me the path first"}.__getitem__,
        )  # fmt: skip
        with st.popover("Options", icon=":material/tune:", key="collect-options"):
            settings = _options(mode or "auto")
        settings = settings.model_copy(update=sources.form("collect"))
    with start:
        st.button("Collect", type="primary", icon=":material/inventory_2:", key="collect-start", on_click=_start, args=(settings,))
    limits = settings.collect
    way = "" if limits.use_smart_navigation else "the plain way: every link, every page an article"
    shown = " You see the path before it is walked." if settings.mode == "step" else ""
    choices.told(settings, f"up to {counted(limits.max_articles, 'item')}, depth {limits.max_depth}", way + shown, sources.brief(settings))
    return settings


def _options(mode: str) -> Settings:
    plain = CollectLimits()
    world, model = choices.world("Where to read", "collect"), choices.model("collect")
    articles = st.number_input("At most this many articles and threads", 1, 100, plain.max_articles, key="collect-max-articles")
    depth = st.number_input("Depth: nothing this far from the start is read", 1, 6, plain.max_depth, key="collect-depth")
    pages = st.number_input("At most this many pages", 1, 300, plain.max_pages, key="collect-max-pages")
    smart = st.toggle(
        "Decide at each page (smart navigation)",
        value=True,
        key="collect-smart",
        help="Off: all links of the start pages, each page taken as an article; for comparison",
    )
    limits = CollectLimits(max_articles=int(articles), max_depth=int(depth), max_pages=int(pages), use_smart_navigation=smart)
    return Settings(flow="collect", mode="step" if mode == "step" else "auto", at_cap="ask", world=world, model=model, collect=limits)


def _start(settings: Settings) -> None:
    prompt, starts = st.session_state.get(PROMPT) or "", re.split(r"\s+", st.session_state.get(STARTS) or "")
    _collect(prompt, starts, settings, typed=True)


def _example(prompt: str, start: str, settings: Settings) -> None:
    _collect(prompt, [start], settings.model_copy(update={"world": "demo"}), typed=False)


def _collect(prompt: str, starts: list[str], settings: Settings, *, typed: bool) -> None:
    def opened(run_id: str) -> None:
        st.query_params["run"] = run_id
        if typed:
            drafts.sent(PROMPT, PROMPT_DRAFT)
            drafts.sent(STARTS, STARTS_DRAFT)

    door.tell(collecting.start, door.workbench(), prompt, starts, settings, then=opened)


def _examples(settings: Settings) -> None:
    intro = "Invented sites, no network: a forum behind a stock page, a dated list of news, a single article."
    labels = [f"{safe.md(prompt)}  \n:gray[{safe.md(safe.address(start))}]" for prompt, start in EXAMPLES]
    choices.examples("collect", intro, labels, _example, [(*example, settings) for example in EXAMPLES])
    choices.offline(settings)


def _recent() -> None:
    runs = [run for run in door.workbench().runs() if run.settings.flow == "collect"][:5]
    told = {run.id: (run, f"{words.stands(run)}, {words.ago(run.updated_at)}") for run in runs}
    nothing = ("Nothing yet", "Name a start page above, or take one of the examples.")
    choices.recent("collect", "What you collected lately", told, nothing)
