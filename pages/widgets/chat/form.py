"""The first screen of Chat: the box, what there is to talk about, examples, the latest conversations."""

from __future__ import annotations

import streamlit as st

from agent.types import LibraryScope, Settings
from pages.widgets.chat import message_box, scope
from pages.widgets.forms import form_page
from pages.widgets.library import upload
from pages.widgets.shell import client, empty_state, ui

FORM = form_page.Form(
    reads_web=False,
    flow="chat",
    title="Ask your library.",
    text="It holds pages your runs have read and documents you add. Each "
    "sentence of an answer carries its "
    "quote, and what the library does not know becomes a research run.",
    examples_title="Try it on the demo’s sources",
    intro="Invented pages and places; a question adds them to the library if they are not there yet.",
    columns=4,
    recent_title="Your latest conversations",
    nothing_recent=("No conversation yet", "Each conversation is kept here and can be continued."),
)


def draw() -> None:
    """The whole screen."""
    form_page.draw_head(FORM)
    if st.session_state.pop("chat-shown", ""):
        scope.reset()
    if scope.restore(_read_scope_from_url()):
        message_box.restore()
    if client.library().count():
        message_box.draw(Settings(flow="chat"))
    else:
        empty_state.draw(
            "There is nothing to talk about yet",
            "Add documents, let a run read something, or take the demo’s knowledge base.",
        )
        with st.container(horizontal=True, vertical_alignment="center"):
            upload.draw_demo_button(then=scope.key_of(scope.DEMO))
            ui.link("pages/library.py", "Add documents", "note_add", {"view": "add"})
    if upload.is_demo_available():
        form_page.draw_examples(FORM, _start_example)
    form_page.draw_recent(FORM, form_page.link_runs("chat"))


def _read_scope_from_url() -> Settings:
    """The scope that the address names."""
    asked = st.query_params
    sources, tags, runs = asked.get_all("source"), asked.get_all("tag"), asked.get_all("of")
    return Settings(flow="chat", scope=LibraryScope(source_ids=sources, tags=tags, run_ids=runs))


def _start_example(example: form_page.Example) -> None:
    scope.clear_scope()
    st.session_state[scope.key_of(scope.DEMO)] = True
    st.session_state[scope.key_of(scope.DOCUMENTS)] = client.library().add_demo()
    message_box.send_message(example["question"], Settings(flow="chat"))
