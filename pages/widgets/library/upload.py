"""Adding to the library: files dropped or chosen, a folder, a web address, the demo's knowledge base. Each is
taken or refused by itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import streamlit as st

from agent.errors import UsageError
from agent.library.ingest import DEMO_TAG
from agent.settings.config import is_personal
from agent.settings.reply_config import DEMO_KB
from agent.text.plurals import clip, format_count
from agent.text.urls import canonicalize, complete_typed_url, host
from agent.types import FolderImportResult, Outcome, Page, RefusedFile
from agent.web import mime
from agent.web.extract import documents
from pages.widgets.shell import client, escape, markup, ui

TAGS_KEY, ROUND_KEY, RESULT_KEY = "library-add-tags", "library-add-round", "library-added"
FOLDER_KEY, URL_KEY = "library-add-folder", "library-add-url"
MAX_LISTED = 40


def draw() -> None:
    """The three ways to add, and what came of the last one."""
    with st.container(key="library-add"):
        _draw_forms()
    if added := st.session_state.get(RESULT_KEY):
        with st.container(border=True, key="library-added"):
            st.html(render_result(added))
            if added.sources:
                about = {"source": [source.source_id for source in added.sources[:MAX_LISTED]]}
                ui.link("pages/chat.py", "Talk about what was added", "chat", about)


def _draw_forms() -> None:
    shelf = client.library()
    tags = st.multiselect(
        "Tags for what you add (if you like)",
        list(shelf.tags()),
        key=TAGS_KEY,
        accept_new_options=True,
        placeholder="choose, or type a new one",
        width=420,
    )
    _draw_upload(tags)
    left, right = st.columns(2, gap="medium")
    if is_personal(client.workbench().config):
        right = left  # others than who runs the server read no folder of it
    else:
        with left, st.container(horizontal=True, vertical_alignment="bottom", key="library-add-folder-row"):
            st.text_input("A folder on this computer", key=FOLDER_KEY, placeholder="/home/me/handbook")
            ui.button("Add folder", "library-add-folder-do", _submit_folder, tags, icon="create_new_folder")
    with right, st.container(horizontal=True, vertical_alignment="bottom", key="library-add-url-row"):
        st.text_input("A web page", key=URL_KEY, placeholder="https://")
        asked = ui.button("Read and add", "library-add-url-do", icon="public")
    if asked:
        _submit_page(tags)
        st.rerun()


def _draw_upload(tags: list[str]) -> None:
    number = int(st.session_state.get(ROUND_KEY, 0))
    most = f"{st.get_option('server.maxUploadSize')} MB each are the most"
    limits = f"{most}; from a folder, {documents.MAX_BYTES // 1_000_000} MB."
    given = st.file_uploader(
        f"Drop documents here, or choose them: {mime.FORMAT_NAMES}",
        accept_multiple_files=True,
        key=f"library-files-{number}",
        help=f"They are read on this computer and stay here. {limits}",
    )
    if not given:
        return
    with st.spinner(f"Reading {format_count(len(given), 'document')} …"):
        st.session_state[RESULT_KEY] = add_files(((file.name, file.getvalue()) for file in given), tags)
    st.session_state[ROUND_KEY] = number + 1  # the box is empty again
    st.rerun()


def add_files(files: Iterable[tuple[str, bytes]], tags: list[str]) -> FolderImportResult:
    """Add each file; one that is refused keeps no other from being added."""
    shelf, added = client.library(), FolderImportResult()
    for name, data in files:
        try:
            added.sources.append(shelf.add_file(name, data, tags=tags))
        except UsageError as refusal:
            added.refused.append(RefusedFile(name=name, why=str(refusal)))
    return added


def _submit_folder(tags: list[str]) -> None:
    path = (st.session_state.get(FOLDER_KEY) or "").strip()
    if not path:
        client.set_notice(
            "warning", "Name a folder first: the way to it on the computer that Touchstone runs on."
        )
        return
    client.submit(lambda: client.workbench().add_folder(path, tags), then=_store_result)


def _submit_page(tags: list[str]) -> None:
    url = (st.session_state.get(URL_KEY) or "").strip()
    with st.spinner(f"Reading {escape.md(escape.shorten_url(url))} …"):
        add = lambda: client.library().add_page(_fetch(url), tags=tags)  # noqa: E731
        client.submit(add, then=lambda source: _store_result(FolderImportResult(sources=[source])))


def _store_result(added: Any) -> None:
    st.session_state[RESULT_KEY] = added


def render_result(added: FolderImportResult) -> str:
    """The results as HTML: what was refused stands first, with the reason."""
    taken, refused = len(added.sources), len(added.refused)
    head = f"{format_count(taken, 'document')} added" + (f", {refused} not taken" if refused else "")
    if not taken and not refused:
        head = f"Nothing there could be read: {mime.FORMAT_NAMES} can"
    items = []
    for one in added.refused[:MAX_LISTED]:
        why = escape.html(one.why.removeprefix(one.name).strip())
        items.append(f'<li class="removed"><b>{escape.html(one.name)}</b>: {why}</li>')
    for source in added.sources[:MAX_LISTED]:
        url, title = escape.stored_page_url("", source.page_id), source.title or source.source_id
        about = (source.source_id, format_count(source.passages, "passage"), source.detail)
        told = f'<span class="soft small">{escape.html(" · ".join(filter(None, about)))}</span>'
        items.append(f'<li class="added"><a href="{url}" target="_self">{escape.html(title)}</a> {told}</li>')
    hidden = taken + refused - len(items)
    more = markup.paragraph(f"and {hidden} more" if hidden else "")
    listed = f'<ul class="changes">{"".join(items)}</ul>{more}'
    return f'<div class="ts"><b role="status">{escape.html(head)}</b>{listed}</div>'


def is_demo_available() -> bool:
    """Does this copy of Touchstone carry the demo's own sources?"""
    return DEMO_KB.is_dir()


def draw_demo_button(*, then: str = "") -> None:
    """The button that adds the demo's sources. `then`: a toggle that is switched on with it."""
    if is_demo_available() and not client.library().count(tag=DEMO_TAG, kind="file"):
        done = "The demo knowledge base is in the library, tagged “demo”. Everything in it is invented."
        switch = {then: True} if then else {}
        more: Any = {"done": done, "then": lambda _: st.session_state.update(switch)}
        act = (client.submit, client.library().add_demo)
        ui.button("Add the demo knowledge base", "library-demo", *act, icon="cottage", kwargs=more)


def refetch_page(source_id: str) -> str:
    """Read a source anew; returns what came of it, as a sentence. What was read before stays when it cannot
    be read now (UsageError)."""
    shelf = client.library()
    before = shelf.source(source_id)
    after = shelf.replace(source_id, _fetch(before.url))
    if after.sha256 == before.sha256:
        return "Read again: the text is the same."
    return (
        f"Read again: the text has changed. It has {after.passages} passages now, it had {before.passages}."
    )


def _fetch(url: str) -> Page:
    url = complete_typed_url(url)
    if not canonicalize(url):
        told = f"“{clip(url)}” is not a web address; name one like example.org or https://example.org/faq"
        raise UsageError(told if url else "name the page's address first")
    bench = client.workbench()
    page = bench.worker.world("demo" if host(url).endswith(".example") else "live").fetch(url)
    if page.outcome is not Outcome.OK or not page.text.strip():
        raise UsageError(f"{clip(url)} could not be read: {page.detail or 'it has no text'}")
    return page
