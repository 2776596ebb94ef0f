"""The box one talks into: a message, documents with it, and unsent text that outlives a refresh."""

from __future__ import annotations

from typing import Any

import streamlit as st

from agent.types import Added, Settings, Status
from agent.wording import counted
from pages.widgets import chat_scope, chat_turn, door, drafts, library_add

SAY, DRAFT = "chat-say", "chat:say"


def draw(before: Settings, *, run_id: str = "", status: Status = Status.DONE, placeholder: str = "Ask what the library may know") -> None:
    """The box and what is talked about. `run_id` is the conversation's newest turn; without one a message begins a conversation."""
    chat_scope.choose(before)
    with st.container(key="chat-box" if run_id else "chat-first-box"):
        st.chat_input(
            placeholder if status is not Status.RUNNING else "The answer before is still on its way …", key=SAY, max_chars=4000,
            accept_file="multiple", on_submit=_said, args=(before, run_id), disabled=status is Status.RUNNING,
        )  # fmt: skip
    drafts.follow(DRAFT)


def restore() -> None:
    """The screen is entered: what was typed and not sent stands in the box again."""
    drafts.restore(SAY, DRAFT)


def _said(before: Settings, run_id: str) -> None:
    """A message was sent: documents that came with it are added first, and talked about."""
    given: Any = st.session_state.get(SAY)
    text, files = (given, []) if isinstance(given, str) else (given.text or "", given.files or [])
    added = library_add.take(((file.name, file.getvalue()) for file in files), [])
    if added.sources:
        chat_scope.add([source.source_id for source in added.sources])
    if text.strip():
        say(text, before, run_id)
    if added.sources or added.refused:
        _tell(added, asked=bool(text.strip()))


def say(text: str, before: Settings, run_id: str = "") -> None:
    """Begin a conversation, or go on with one. Only in a callback."""
    bench, chosen = door.workbench(), chat_scope.settings(before)

    def opened(new: str) -> None:
        st.query_params.clear()
        st.query_params["run"] = new
        chat_turn.watch(new)
        bench.draft(DRAFT, "")

    if run_id:
        door.tell(bench.say, run_id, text, chosen, then=opened)
    else:
        door.tell(bench.start, text, chosen.model_copy(update={"thread_id": ""}), then=opened)


def _tell(added: Added, *, asked: bool) -> None:
    if added.refused:
        more = f" {counted(len(added.sources), 'document')} added." if added.sources else ""
        door.notice("warning", " ".join(f"{one.why.rstrip('.')}." for one in added.refused[:4]) + more)
    elif not asked:
        names = ", ".join(source.title or source.source_id for source in added.sources[:3])
        door.notice("success", f"{names} can be talked about now: ask.")
