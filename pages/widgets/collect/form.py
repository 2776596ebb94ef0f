"""The first screen of Collect: what to gather, where to start, how; examples; the latest runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from agent import api
from agent.text.plurals import format_count
from agent.types import CollectLimits, Settings
from pages.widgets.forms import form_page
from pages.widgets.shell import client, drafts, labels, ui

FORM = form_page.Form(
    flow="collect",
    title="Gather from a site.",
    text="Enter a page to start from and say what you want. Touchstone decides at "
    "each page whether it is content, "
    "a list or a link to follow, keeps whole articles and every post of a thread, and "
    "shows why it went where it went.",
    intro="Invented sites, no network: a forum behind a stock page, a dated list of news, a single article.",
    recent_title="Your latest collections",
    nothing_recent=("Nothing yet", "Enter a start page above, or try an example."),
)
PROMPT, STARTS = "collect:prompt", "collect:starts"


def draw() -> None:
    """The whole screen."""
    form_page.draw_head(FORM)
    with st.container(key="collect-ask"):
        hint = "e.g. What are members saying about … in the last month?"
        drafts.text_area("What to gather", PROMPT, placeholder=hint, height=90)
        drafts.text_area("Start pages, one per line", STARTS, placeholder="https://", height=80)
        settings = form_page.draw_settings(
            FORM,
            ("Collect", "inventory_2"),
            _start_typed,
            _draw_options,
            _describe,
            modes={"auto": "Automatic", "step": "Approve each path"},
        )
    examples = [
        (form_page.label_example(example), (example, settings))
        for example in form_page.list_examples("collect")
    ]
    form_page.draw_examples(FORM, examples, _start_example)
    form_page.draw_recent(
        FORM,
        [
            form_page.link_run(run, f"{labels.describe_status(run)}, {labels.format_age(run.updated_at)}")
            for run in form_page.find_recent("collect")
        ],
    )


def _describe(settings: Settings, mode: str) -> list[str]:
    limits = settings.collect
    simple = "" if limits.use_smart_navigation else "simple navigation: every link, every page an article"
    approve = "you approve each path before it is followed" if mode == "step" else ""
    return [f"up to {format_count(limits.max_articles, 'item')}, depth {limits.max_depth}", simple, approve]


def _draw_options(mode: str) -> Settings:
    plain = CollectLimits()
    world, model = form_page.choose_world("collect"), form_page.choose_model("collect")
    limits = CollectLimits(
        max_articles=ui.number(
            "Maximum articles and threads", 1, 100, plain.max_articles, "collect-max-articles"
        ),
        max_depth=ui.number(
            "Depth: pages this many links from the start are not read", 1, 6, plain.max_depth, "collect-depth"
        ),
        max_pages=ui.number("Maximum page requests", 1, 300, plain.max_pages, "collect-max-pages"),
        use_smart_navigation=st.toggle(
            "Decide at each page (smart navigation)",
            value=True,
            key="collect-smart",
            help="Off: all links of the start pages, each page taken as an article; for comparison",
        ),
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
    starts = drafts.read(STARTS).split()
    _start(drafts.read(PROMPT), starts, settings, PROMPT, STARTS)


def _start_example(example: Mapping[str, Any], settings: Settings) -> None:
    settings = form_page.fit_settings(example, settings)
    _start(example["question"], settings.start_urls, settings)


def _start(prompt: str, starts: list[str], settings: Settings, *sent: str) -> None:
    form_page.start_run(api.start_collect_run, client.workbench(), prompt, starts, settings, sent=sent)
