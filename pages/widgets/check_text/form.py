"""The first screen of Check a text: the text by paste, upload or address; how it is checked; an example."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from agent import api
from agent.actions.page_input import MAX_PASTED_CHARS
from agent.errors import UsageError
from agent.settings.config import ROOT
from agent.text.plurals import format_count
from agent.types import CheckTextSettings, Settings
from agent.web import mime
from agent.workbench import Workbench
from pages.widgets.forms import form_page
from pages.widgets.library.upload import describe_size_limits
from pages.widgets.shell import client, drafts, labels, ui

FORM = form_page.Form(
    flow="check_text",
    title="Check a text.",
    text="Give a report or an article that cites its sources: links, footnotes, a list of references. "
    "Touchstone reads each cited source and marks every sentence: supported by its quote, or not.",
    intro="A short report about invented people and places, no network.",
    recent_title="Your latest checks",
    nothing_recent=("Nothing checked yet", "Paste a text above, or try the example."),
)
TEXT, ADDRESS = "check:text", "check:address"
FILE_KEY, WAY_KEY = "check-text-file", "check-text-way"
WAYS = {"paste": "Paste", "upload": "Upload", "address": "Web address"}


def draw() -> None:
    """The whole screen."""
    form_page.draw_head(FORM)
    with st.container(key="check-text-ask"):
        _draw_input()
        settings = form_page.draw_settings(
            FORM, ("Check", "fact_check"), _start_typed, _draw_options, _describe
        )
    examples = [
        (form_page.label_example(example), (example, settings))
        for example in form_page.list_examples("check_text")
    ]
    form_page.draw_examples(FORM, examples, _start_example)
    form_page.draw_recent(
        FORM,
        [
            form_page.link_run(run, f"{labels.describe_status(run)}, {labels.format_age(run.updated_at)}")
            for run in form_page.find_recent("check_text")
        ],
    )


def _draw_input() -> None:
    """The choice of a way and its field for the text."""
    way = st.segmented_control(
        "How to give the text",
        list(WAYS),
        default="paste",
        required=True,
        key=WAY_KEY,
        persist_state="session",
        label_visibility="collapsed",
        format_func=WAYS.__getitem__,
    )
    if way == "upload":
        help = f"It is read on this computer and stays here. {describe_size_limits()}"
        st.file_uploader(f"A document: {mime.FORMAT_NAMES}", key=FILE_KEY, help=help)
    elif way == "address":
        drafts.text_area("The address of the page", ADDRESS, placeholder="https://", height=68)
    else:
        hint = "Paste the text with its links or its list of references. Markdown is understood."
        drafts.text_area("Text to check", TEXT, placeholder=hint, height=260, most=MAX_PASTED_CHARS)


def _describe(settings: Settings, mode: str) -> list[str]:
    own = settings.check_text
    search = "claims without a source are searched for" if own.search_missing else ""
    return [f"up to {format_count(own.max_pages, 'source')}", search]


def _draw_options(mode: str) -> Settings:
    plain = CheckTextSettings()
    world, model = form_page.choose_world("check_text"), form_page.choose_model("check_text")
    own = CheckTextSettings(
        max_pages=ui.number("Maximum sources to fetch", 1, 300, plain.max_pages, "check-text-pages"),
        search_missing=st.toggle(
            "Search for claims without a source",
            key="check-text-search",
            help="Each such claim is sent to the search engine; the first pages found are read",
        ),
    )
    return Settings(flow="check_text", at_cap="ask", world=world, model=model, check_text=own)


def _start_typed(settings: Settings) -> None:
    # the way as it stands at the click, which may come before the form is drawn anew
    way = st.session_state.get(WAY_KEY) or "paste"
    given: Any = {
        "paste": drafts.read(TEXT),
        "upload": st.session_state.get(FILE_KEY),
        "address": drafts.read(ADDRESS),
    }[way]
    form_page.start_run(_start, client.workbench(), way, given, settings, sent=(TEXT, ADDRESS))


def _start(bench: Workbench, way: str, given: Any, settings: Settings) -> str:
    """Start the check of what was given. Raises UsageError when nothing was."""
    if way == "address":
        return api.start_address_check(bench, given, settings)
    if way == "upload":
        if given is None:
            raise UsageError("choose a document first, or paste its text")
        return api.start_text_check(bench, given.name, given.getvalue(), settings)
    if not given.strip():
        raise UsageError("paste a text first, upload a document, or name the address of a page")
    return api.start_text_check(bench, api.PASTED_NAME, given.encode(), settings)


def _start_example(example: Mapping[str, Any], settings: Settings) -> None:
    path = ROOT / "demo" / example["file"]
    given = path.name, path.read_bytes(), form_page.fit_settings(example, settings)
    form_page.start_run(api.start_text_check, client.workbench(), *given)
