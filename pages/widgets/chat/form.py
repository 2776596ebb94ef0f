"""The first screen of Chat: the box, what there is to talk about, examples from the demo, the latest
conversations."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from agent.text.plurals import format_count
from agent.types import LibraryScope, Settings
from pages.widgets.chat import message_box, scope
from pages.widgets.library import demo
from pages.widgets.shell import client, drafts, empty_state, escape, labels, ui

HERE = Path(__file__).parent.parent / "shell"
EXAMPLES = (
    ("What does the Harbour edition cost?", "a price, from a table"),
    ("How do I install Fyrvakt on Debian?", "steps, from a page"),
    ("Where is the nearest repair café to Stenfors?", "places by distance, from a table"),
    ("Tell me about it", "unclear: it asks back"),
)


def draw() -> None:
    """The whole screen."""
    st.html(HERE / "talk.css")
    st.html(
        '<div class="ts ts-hero"><h1>Talk with what was read.</h1><p>Ask the library: pages your runs have read and documents you add. Each '
        "sentence of an answer carries the quote it stands on, and what the library does not know becomes a research run.</p></div>"
    )
    client.show_notice("chat")
    if st.session_state.pop("chat-shown", ""):
        scope.reset()
    if scope.restore(_read_scope_from_url()):
        message_box.restore()
    drafts.install_script()
    held = client.library().count()
    if held:
        message_box.draw(Settings(flow="chat"))
    else:
        empty_state.draw(
            "There is nothing to talk about yet",
            "Add documents, let a run read something, or take the demo’s knowledge base.",
        )
        with st.container(horizontal=True, vertical_alignment="center"):
            demo.draw_demo_button(then=scope.DEMO_KEY)
            ui.link("pages/library.py", "Add documents", "note_add", {"view": "add"})
    _draw_examples()
    _draw_recent()


def _read_scope_from_url() -> Settings:
    """What the address says is to be talked about."""
    asked = st.query_params
    return Settings(
        flow="chat",
        scope=LibraryScope(
            source_ids=asked.get_all("source"), tags=asked.get_all("tag"), run_ids=asked.get_all("of")
        ),
    )


def _draw_examples() -> None:
    if not demo.is_demo_available():
        return
    st.html(
        '<div class="ts"><h2 class="ts-section">Try it on the demo’s sources</h2><p class="soft small">Invented pages and places; a question adds '
        "them to the library if they are not there yet.</p></div>"
    )
    with st.container(key="chat-examples"), st.grid(4, min_column_width=230, gap="small"):
        for n, (question, kind) in enumerate(EXAMPLES):
            label = f"{escape.md(question)}  \n:gray[{escape.md(kind)}]"
            ui.button(label, f"chat-example-{n}", _start_example, question, width="stretch", wrap=True)


def _start_example(question: str) -> None:
    demo.add_demo()
    scope.clear_scope()
    st.session_state[scope.DEMO_KEY] = True
    st.session_state[scope.TAGS_KEY] = [demo.DEMO_TAG]
    message_box.send_message(question, Settings(flow="chat"))


def _draw_recent() -> None:
    bench = client.workbench()
    runs = [
        run
        for run in bench.runs()
        if run.settings.flow in ("chat", "chat_simple") and not run.settings.thread_id
    ][:6]
    ui.heading("Your latest conversations")
    if not runs:
        empty_state.draw("No conversation yet", "Each conversation is kept here and can be gone on with.")
        return
    with st.container(gap="xxsmall", key="chat-recent"):
        for run in runs:
            turns = bench.thread(run.id) or [run.id]
            label = f"{escape.md(run.question, 100)}  :gray[{format_count(len(turns), 'question')}, {labels.format_age(run.updated_at)}]"
            ui.link("pages/chat.py", label, "chevron_right", {"run": turns[-1]})
