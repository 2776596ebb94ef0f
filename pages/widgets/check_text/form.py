"""The first screen of Check a text: the text by paste, upload or address; how it is checked; an example."""

from __future__ import annotations

from typing import Any

import streamlit as st

from agent import api
from agent.actions.page_input import MAX_PASTED_CHARS
from agent.errors import UsageError
from agent.settings.config import ROOT
from agent.text.plurals import format_count
from agent.types import Settings
from agent.web import mime
from pages.widgets.forms import form_page, limit_fields
from pages.widgets.shell import client, drafts, ui

TEXT, ADDRESS = "check:text", "check:address"
FILE_KEY, WAY_KEY = "check-text-file", "check-text-way"
WAYS = {"paste": "Paste", "upload": "Upload", "address": "Web address"}


def draw() -> None:
    """The whole screen."""
    form_page.draw(FORM)


def _draw_input() -> None:
    """The choice of a way and its field for the text."""
    way = ui.switch("How to give the text", WAYS, WAY_KEY, persist_state="session")
    if way == "upload":
        most = st.get_option("server.maxUploadSize")
        help = f"It is read on this computer and stays here. {most} MB are the most."
        st.file_uploader(f"A document: {mime.FORMAT_NAMES}", key=FILE_KEY, help=help)
    elif way == "address":
        drafts.text_area("The address of the page", ADDRESS, placeholder="https://", height=68)
    else:
        hint = "Paste the text with its links or its list of references. Markdown is understood."
        drafts.text_area("Text to check", TEXT, placeholder=hint, height=260, most=MAX_PASTED_CHARS)


def _describe(settings: Settings) -> list[str]:
    own = settings.check_text
    search = "claims without a source are searched for" if own.search_missing else ""
    return [f"up to {format_count(own.max_pages, 'source')}", search]


def _draw_options(settings: Settings) -> dict[str, Any]:
    return {"check_text": limit_fields.draw(settings.check_text, "check_text")}


def _start(settings: Settings, example: form_page.Example | None) -> str:
    """Start the check of what was given. Raises UsageError when nothing was."""
    bench = client.workbench()
    way = st.session_state.get(WAY_KEY) or "paste"  # as it stands at the click, before the form is drawn anew
    given: Any = st.session_state.get(FILE_KEY)
    if example:
        path = ROOT / "demo" / example["file"]
        return api.start_text_check(bench, path.name, path.read_bytes(), settings)
    if way == "address":
        return api.start_address_check(bench, drafts.read(ADDRESS), settings)
    if way == "upload":
        if given is None:
            raise UsageError("choose a document first, or paste its text")
        return api.start_text_check(bench, given.name, given.getvalue(), settings)
    if not (text := drafts.read(TEXT)).strip():
        raise UsageError("paste a text first, upload a document, or name the address of a page")
    return api.start_text_check(bench, api.PASTED_NAME, text.encode(), settings)


FORM = form_page.RunForm(
    flow="check_text",
    title="Check a text.",
    text="Give a report or an article that cites its sources: links, footnotes, a list of references. "
    "Touchstone reads each cited source and marks every sentence: supported by its quote, or not.",
    intro="A short report about invented people and places, no network.",
    recent_title="Your latest checks",
    nothing_recent=("Nothing checked yet", "Paste a text above, or try the example."),
    button=("Check", "fact_check"),
    sent=(TEXT, ADDRESS),
    draw_fields=_draw_input,
    draw_options=_draw_options,
    describe=_describe,
    start=_start,
)
