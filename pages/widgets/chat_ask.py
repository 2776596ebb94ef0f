"""The first screen of Chat: the box, what there is to talk about, examples from the demo, the latest conversations."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from agent.types import Scope, Settings
from agent.wording import counted
from pages.widgets import chat_say, chat_scope, door, drafts, empty, library_demo, safe, words

HERE = Path(__file__).parent
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
    door.show_notice("chat")
    if st.session_state.pop("chat-shown", ""):
        chat_scope.forget()
    if chat_scope.recall(_begin()):
        chat_say.restore()
    drafts.keep()
    held = door.holdings().count()
    if held:
        chat_say.draw(Settings(flow="chat"))
    else:
        empty.draw("There is nothing to talk about yet", "Add documents, let a run read something, or take the demo’s knowledge base.")
        with st.container(horizontal=True, vertical_alignment="center"):
            library_demo.button(then=chat_scope.DEMO)
            st.page_link("pages/library.py", label="Add documents", icon=":material/note_add:", query_params={"view": "add"})
    _examples()
    _recent()


def _begin() -> Settings:
    """What the address says is to be talked about."""
    asked = st.query_params
    return Settings(flow="chat", scope=Scope(source_ids=asked.get_all("source"), tags=asked.get_all("tag"), run_ids=asked.get_all("of")))


def _examples() -> None:
    if not library_demo.there():
        return
    st.html(
        '<div class="ts"><h2 class="ts-section">Try it on the demo’s sources</h2><p class="soft small">Invented pages and places; a question adds '
        "them to the library if they are not there yet.</p></div>"
    )
    with st.container(key="chat-examples"), st.grid(4, min_column_width=230, gap="small"):
        for n, (question, kind) in enumerate(EXAMPLES):
            label = f"{safe.md(question)}  \n:gray[{safe.md(kind)}]"
            st.button(label, key=f"chat-example-{n}", on_click=_example, args=(question,), width="stretch", wrap=True)


def _example(question: str) -> None:
    library_demo.add()
    chat_scope.clear()
    st.session_state[chat_scope.DEMO] = True
    st.session_state[chat_scope.TAGS] = [library_demo.TAG]
    chat_say.say(question, Settings(flow="chat"))


def _recent() -> None:
    bench = door.workbench()
    runs = [run for run in bench.runs() if run.settings.flow in ("chat", "chat_simple") and not run.settings.thread_id][:6]
    st.html('<div class="ts"><h2 class="ts-section">Your latest conversations</h2></div>')
    if not runs:
        empty.draw("No conversation yet", "Each conversation is kept here and can be gone on with.")
        return
    with st.container(gap="xxsmall", key="chat-recent"):
        for run in runs:
            turns = bench.thread(run.id) or [run.id]
            label = f"{safe.md(run.question, 100)}  :gray[{counted(len(turns), 'question')}, {words.ago(run.updated_at)}]"
            st.page_link("pages/chat.py", label=label, query_params={"run": turns[-1]}, icon=":material/chevron_right:")
