"""Adding to the library: files dropped or chosen, a folder, a web address, the demo's knowledge base. Each is taken or refused by itself."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import streamlit as st

from agent.errors import UsageError
from agent.tools import documents
from agent.types import Added, LibrarySource, Refused
from agent.wording import counted
from pages.widgets import door, library_fetch, safe

TAGS, ROUND, TOLD = "library-add-tags", "library-add-round", "library-added"
FOLDER, URL = "library-add-folder", "library-add-url"
LISTED = 40


def draw() -> None:
    """The three ways to add, and what came of the last one."""
    with st.container(key="library-add"):
        _ways()
    results()


def _ways() -> None:
    shelf = door.holdings()
    tags = st.multiselect(
        "Tags for what you add (if you like)",
        list(shelf.tags()),
        key=TAGS,
        accept_new_options=True,
        placeholder="choose, or type a new one",
        width=420,
    )
    _files(tags)
    left, right = st.columns(2, gap="medium")
    with left, st.container(horizontal=True, vertical_alignment="bottom", key="library-add-folder-row"):
        st.text_input("A folder on this computer", key=FOLDER, placeholder="/home/me/handbook")
        st.button("Add folder", key="library-add-folder-do", icon=":material/create_new_folder:", on_click=_folder, args=(tags,))
    with right, st.container(horizontal=True, vertical_alignment="bottom", key="library-add-url-row"):
        st.text_input("A web page", key=URL, placeholder="https://")
        asked = st.button("Read and add", key="library-add-url-do", icon=":material/public:")
    if asked:
        _address(tags)
        st.rerun()


def _files(tags: list[str]) -> None:
    number = int(st.session_state.get(ROUND, 0))
    given = st.file_uploader(
        "Drop documents here, or choose them: HTML, PDF, DOCX, Markdown, plain text, CSV", accept_multiple_files=True, key=f"library-files-{number}",
        help=f"They are read on this computer and stay here. {sizes()}",
    )  # fmt: skip
    if not given:
        return
    with st.spinner(f"Reading {counted(len(given), 'document')} …"):
        st.session_state[TOLD] = take(((file.name, file.getvalue()) for file in given), tags)
    st.session_state[ROUND] = number + 1  # the box is empty again
    st.rerun()


def sizes() -> str:
    """How large a document may be, by the way it comes."""
    return f"{st.get_option('server.maxUploadSize')} MB each are the most; from a folder, {documents.LARGEST // 1_000_000} MB."


def take(files: Iterable[tuple[str, bytes]], tags: list[str]) -> Added:
    """Add each file; one that is refused keeps no other from being added."""
    shelf, added = door.holdings(), Added()
    for name, data in files:
        try:
            added.sources.append(shelf.add_file(name, data, tags=tags))
        except UsageError as refusal:
            added.refused.append(Refused(name=name, why=str(refusal)))
    return added


def _folder(tags: list[str]) -> None:
    path = (st.session_state.get(FOLDER) or "").strip()
    if not path:
        door.notice("warning", "Name a folder first: the way to it on the computer that Touchstone runs on.")
        return
    door.tell(lambda: door.holdings().add_folder(Path(path).expanduser(), tags=tags), then=_keep)


def _address(tags: list[str]) -> None:
    url = (st.session_state.get(URL) or "").strip()
    with st.spinner(f"Reading {safe.md(safe.address(url))} …"):
        door.tell(library_fetch.add, url, tags, then=lambda source: _keep(Added(sources=[source])))


def _keep(added: Any) -> None:
    st.session_state[TOLD] = added


def results() -> None:
    """What came of the last adding: each document by itself, until something else is added."""
    added = st.session_state.get(TOLD)
    if not isinstance(added, Added):
        return
    with st.container(border=True, key="library-added"):
        st.html(listed(added))
        if added.sources:
            about = {"source": [source.source_id for source in added.sources[:LISTED]]}
            st.page_link("pages/chat.py", label="Talk about what was added", query_params=about, icon=":material/chat:")


def listed(added: Added) -> str:
    """The results as HTML: what was refused stands first, with the reason."""
    taken, refused = len(added.sources), len(added.refused)
    head = f"{counted(taken, 'document')} added" + (f", {refused} not taken" if refused else "")
    if not taken and not refused:
        head = "Nothing there could be read: HTML, PDF, DOCX, Markdown, plain text and CSV can"
    no = "".join(f'<li class="removed"><b>{safe.html(one.name)}</b>: {safe.html(_why(one))}</li>' for one in added.refused[:LISTED])
    yes = "".join(f'<li class="added">{_source(source)}</li>' for source in added.sources[:LISTED])
    hidden = max(0, taken - LISTED) + max(0, refused - LISTED)
    more = f'<p class="small soft">and {hidden} more</p>' if hidden else ""
    return f'<div class="ts"><b role="status">{safe.html(head)}</b><ul class="changes">{no}{yes}</ul>{more}</div>'


def _why(refused: Refused) -> str:
    why = refused.why.removeprefix(refused.name).strip() or refused.why
    return why if why.endswith((".", "!", "?")) else f"{why}."


def _source(source: LibrarySource) -> str:
    detail = f' <span class="soft">{safe.html(source.detail)}</span>' if source.detail else ""
    opens = f'<a href="{safe.stored("", source.page_id)}" target="_self">{safe.html(source.title or source.source_id)}</a>'
    return f'{opens} <span class="soft small">{safe.html(source.source_id)} · {counted(source.passages, "passage")}</span>{detail}'
