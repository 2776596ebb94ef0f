"""The box one talks into: a message, documents with it, and unsent text that outlives a refresh."""

from __future__ import annotations

from typing import Any

import streamlit as st

from agent.text.plurals import format_count
from agent.types import FolderImportResult, Settings, Status
from pages.widgets.chat import scope
from pages.widgets.forms import form_page
from pages.widgets.library import upload
from pages.widgets.shell import client, drafts

INPUT_KEY, INPUT_DRAFT = "chat-say", "chat:say"


def draw(
    before: Settings,
    *,
    run_id: str = "",
    status: Status = Status.DONE,
    placeholder: str = "Ask what the library may know",
) -> None:
    """The box and what is talked about. `run_id`: the newest turn; without one a conversation begins."""
    scope.draw(before)
    with st.container(key="chat-box" if run_id else "chat-first-box"):
        st.chat_input(
            placeholder if status is not Status.RUNNING else "The previous answer is still being written …",
            key=INPUT_KEY,
            accept_file="multiple",
            on_submit=_handle_submit,
            args=(before, run_id),
            disabled=status is Status.RUNNING,
        )
    drafts.track_chat_box(INPUT_DRAFT)


def restore() -> None:
    """What was typed and not sent stands in the box again."""
    drafts.restore(INPUT_KEY, INPUT_DRAFT)


def _handle_submit(before: Settings, run_id: str) -> None:
    """A message was sent: documents that came with it are added first, and talked about."""
    given: Any = st.session_state.get(INPUT_KEY)
    text, files = (given, []) if isinstance(given, str) else (given.text or "", given.files or [])
    added = upload.add_files(((file.name, file.getvalue()) for file in files), [])
    if added.sources:
        scope.add_documents([source.source_id for source in added.sources])
    if text.strip():
        client.workbench().store.draft(INPUT_DRAFT, text)  # it stands in the box again where it is refused
        send_message(text, before, run_id, INPUT_DRAFT)
        restore()
    if added.sources or added.refused:
        _notify_added(added, asked=bool(text.strip()))


def send_message(text: str, before: Settings, run_id: str = "", *sent: str) -> None:
    """Begin a conversation, or go on with one; then the `sent` drafts are cleared. Only in a callback."""
    bench, chosen = client.workbench(), scope.build_settings(before)
    if run_id:
        form_page.start_run(bench.send_chat_message, run_id, text, chosen, sent=sent)
    else:
        form_page.start_run(bench.start, text, chosen.replace(thread_id=""), sent=sent)


def _notify_added(added: FolderImportResult, *, asked: bool) -> None:
    if added.refused:
        more = f" {format_count(len(added.sources), 'document')} added." if added.sources else ""
        client.set_notice("warning", " ".join(f"{one.why.rstrip('.')}." for one in added.refused[:4]) + more)
    elif not asked:
        names = ", ".join(source.title or source.source_id for source in added.sources[:3])
        client.set_notice("success", f"{names} can be talked about now: ask.")
