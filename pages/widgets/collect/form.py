"""The first screen of Collect: what to gather, where to start, how; examples that need no network; the latest
runs."""

from __future__ import annotations

import re

import streamlit as st

from agent import api
from agent.text.plurals import format_count
from agent.types import CollectLimits, Settings
from pages.widgets.forms import form_fields, source_filter_form
from pages.widgets.shell import client, drafts, escape, ui
from pages.widgets.shell import labels as labels_module

PROMPT_KEY, PROMPT_DRAFT = "collect-prompt", "collect:prompt"
STARTS_KEY, STARTS_DRAFT = "collect-starts", "collect:starts"
EXAMPLES = (
    (
        "Go to the forum section and find out what people are saying about Kallsteg in the last month",
        "https://borskvart.example/stock/KALL",
    ),
    ("Summarize Granvattnet news from last week", "https://granvattnet-courier.example/news/"),
    ("Summarize this article", "https://granvattnet-courier.example/2026/08/20/kallsteg-factory"),
)


def draw() -> None:
    """The whole screen."""
    st.html(
        '<div class="ts ts-hero"><h1>Gather from a site.</h1><p>Name a page to start from and say what you want. Touchstone decides at each page '
        "whether it is content, a list or a way on, takes whole articles and every post of a thread, and shows why it went where it went.</p></div>"
    )
    client.show_notice("collect")
    drafts.install_script()
    with st.container(key="collect-ask"):
        drafts.text_area(
            "What to gather",
            PROMPT_KEY,
            PROMPT_DRAFT,
            placeholder="e.g. What are members saying about … in the last month?",
            height=90,
        )
        drafts.text_area(
            "Start pages, one a line", STARTS_KEY, STARTS_DRAFT, placeholder="https://", height=80
        )
        settings = _draw_settings()
    _draw_examples(settings)
    _draw_recent()


def _draw_settings() -> Settings:
    with st.container(horizontal=True, vertical_alignment="center"):
        start = st.container(width="content")
        mode = st.segmented_control(
            "Mode",
            ["auto", "step"],
            default="auto",
            required=True,
            key="collect-mode",
            label_visibility="collapsed",
            format_func={"auto": "Automatic", "step": "Approve each path"}.__getitem__,
        )
        with st.popover("Options", icon=":material/tune:", key="collect-options"):
            settings = _draw_options(mode or "auto")
        settings = settings.model_copy(update=source_filter_form.draw("collect"))
    with start:
        ui.button("Collect", "collect-start", _start_typed, settings, icon="inventory_2", type="primary")
    limits = settings.collect
    way = "" if limits.use_smart_navigation else "the plain way: every link, every page an article"
    shown = " You approve the path before it is followed." if settings.mode == "step" else ""
    form_fields.draw_summary(
        settings,
        f"up to {format_count(limits.max_articles, 'item')}, depth {limits.max_depth}",
        way + shown,
        source_filter_form.summarize(settings),
    )
    return settings


def _draw_options(mode: str) -> Settings:
    plain = CollectLimits()
    world, model = form_fields.choose_world("Search in", "collect"), form_fields.choose_model("collect")
    articles = st.number_input(
        "At most this many articles and threads", 1, 100, plain.max_articles, key="collect-max-articles"
    )
    depth = st.number_input(
        "Depth: nothing this far from the start is read", 1, 6, plain.max_depth, key="collect-depth"
    )
    pages = st.number_input("At most this many pages", 1, 300, plain.max_pages, key="collect-max-pages")
    smart = st.toggle(
        "Decide at each page (smart navigation)",
        value=True,
        key="collect-smart",
        help="Off: all links of the start pages, each page taken as an article; for comparison",
    )
    limits = CollectLimits(
        max_articles=int(articles), max_depth=int(depth), max_pages=int(pages), use_smart_navigation=smart
    )
    return Settings(
        flow="collect",
        mode="step" if mode == "step" else "auto",
        at_cap="ask",
        world=world,
        model=model,
        collect=limits,
    )


def _start_typed(settings: Settings) -> None:
    prompt, starts = (
        st.session_state.get(PROMPT_KEY) or "",
        re.split(r"\s+", st.session_state.get(STARTS_KEY) or ""),
    )
    _start_run(prompt, starts, settings, typed=True)


def _start_example(prompt: str, start: str, settings: Settings) -> None:
    _start_run(prompt, [start], settings.model_copy(update={"world": "demo"}), typed=False)


def _start_run(prompt: str, starts: list[str], settings: Settings, *, typed: bool) -> None:
    def opened(run_id: str) -> None:
        st.query_params["run"] = run_id
        if typed:
            drafts.clear(PROMPT_KEY, PROMPT_DRAFT)
            drafts.clear(STARTS_KEY, STARTS_DRAFT)

    client.submit(api.start_collect_run, client.workbench(), prompt, starts, settings, then=opened)


def _draw_examples(settings: Settings) -> None:
    intro = "Invented sites, no network: a forum behind a stock page, a dated list of news, a single article."
    labels = [
        f"{escape.md(prompt)}  \n:gray[{escape.md(escape.shorten_url(start))}]" for prompt, start in EXAMPLES
    ]
    form_fields.draw_examples(
        "collect", intro, labels, _start_example, [(*example, settings) for example in EXAMPLES]
    )
    form_fields.draw_offline_note(settings)


def _draw_recent() -> None:
    runs = [run for run in client.workbench().runs() if run.settings.flow == "collect"][:5]
    told = {
        run.id: (run, f"{labels_module.describe_status(run)}, {labels_module.format_age(run.updated_at)}")
        for run in runs
    }
    nothing = ("Nothing yet", "Name a start page above, or take one of the examples.")
    form_fields.draw_recent("collect", "What you collected lately", told, nothing)
