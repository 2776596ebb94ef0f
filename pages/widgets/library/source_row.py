"""One source of the library as a row: what it is, and what can be done with it. Its text is a click away."""

from __future__ import annotations

import functools
import hashlib
from typing import Any

import streamlit as st

from agent.text.plurals import format_count
from agent.types import LibrarySource
from pages.widgets.library import upload
from pages.widgets.shell import badges, client, drafts, escape, labels, markup, ui

UNDO_KEY = "library-undo"
STALE_DAYS = 30
"""Days after which a web page that was not read again is marked."""
KIND_LABELS = {"page": "web page", "file": "document", "topic": "team topic"}
AUTHOR_LABELS = {"model": "described by the model", "person": "described by you"}


def draw(source: LibrarySource, tags: list[str]) -> None:
    """The row; `tags` are those that exist."""
    key = hashlib.sha256(source.source_id.encode()).hexdigest()[:10]
    with (
        st.container(border=True, key=f"library-row-{key}", gap=None),
        st.container(horizontal=True, vertical_alignment="center"),
    ):
        with st.container(gap=None, key=f"library-what-{key}"):
            ui.link("pages/page.py", escape.md(display_title(source), 120), "", {"id": source.page_id})
            st.html(render_details(source))
        if source.deleted_at:
            back = (f"library-restore-{key}", _restore, source.source_id)
            ui.button(format_button("Take out", source), *back, icon="undo")
        else:
            _draw_manage(source, tags, key)
            gone = (f"library-delete-{key}", _delete, source.source_id, source.title)
            ui.button(format_button("Delete", source), *gone, icon="delete", type="tertiary")


def format_button(does: str, source: LibrarySource) -> str:
    """The label of a row's button. The stylesheet hides what it is about from the eye: who hears the screen
    needs it, a row is not seen."""
    return f"{does} *{escape.md(display_title(source), 60)}*"


def render_details(source: LibrarySource) -> str:
    """What the source is, in a few lines of HTML."""
    is_page = escape.href(source.url)
    link = escape.render_link(source.url, escape.shorten_url(source.url, 60))
    marks = [(KIND_LABELS[source.kind], ""), *((f"#{tag}", "live") for tag in source.tags)]
    if source.gone_at:
        marks.append(("its file is gone", "warn"))
    if is_page and labels.days_since(source.fetched_at) >= STALE_DAYS:
        marks.append(("stale", "warn"))
    read = f"read {labels.format_age(source.fetched_at)}" if source.fetched_at else ""
    place = link if is_page else escape.html(source.source_id)
    author = AUTHOR_LABELS.get(source.described_by, "")
    told = " · ".join(filter(None, (place, format_count(source.passages, "passage"), read, author)))
    text = source.description.removeprefix(source.title).lstrip(" :—-")  # its title stands above it
    about = markup.paragraph(escape.html(escape.shorten(text, 240)), "small")
    about += markup.paragraph(escape.html(source.detail), "small warned")
    chips = f'<div class="chips">{badges.render_row(marks)}<span class="small soft">{told}</span></div>'
    return f'<div class="ts source">{about}{chips}</div>'


def display_title(source: LibrarySource) -> str:
    """What a source is called on the screen."""
    return source.title or escape.shorten_url(source.url) or source.source_id


def _draw_manage(source: LibrarySource, tags: list[str], key: str) -> None:
    """Tags, the description, reading it again: drawn when it is opened."""
    opened = ui.popover(format_button("Manage", source), f"library-manage-{key}", "edit", type="tertiary")
    if not opened.open:
        return
    with opened:
        st.multiselect(
            "Tags",
            sorted({*tags, *source.tags}),
            default=source.tags,
            key=f"library-tags-{key}",
            accept_new_options=True,
            on_change=_save_tags,
            args=(source.source_id, key),
            placeholder="choose, or type a new one",
        )
        draft, label = f"describe:{source.source_id}", "What it is about (Reply chooses by this)"
        drafts.text_area(label, draft, height=120, given=source.description)
        ui.button("Keep this description", f"library-describe-{key}", _save_description, source.source_id)
        with st.container(horizontal=True, vertical_alignment="center"):
            ui.link("pages/chat.py", "Talk about it", "chat", {"source": source.source_id})
            asked = escape.href(source.url) and ui.button(
                "Read again", f"library-again-{key}", icon="refresh"
            )
        if asked:
            with st.spinner("Reading it again …"):
                told = functools.partial(client.set_notice, "success")
                client.submit(upload.refetch_page, source.source_id, then=told)
            st.rerun()


def draw_undo() -> None:
    """What was deleted last, with the way back."""
    source_id, title = st.session_state.get(UNDO_KEY, ("", ""))
    if source_id:
        with st.container(horizontal=True, vertical_alignment="center", key="library-undo-row"):
            gone = escape.html(escape.shorten(title or source_id, 60))
            told = (
                f"“{gone}” is in the bin. Nothing is found in it now; answers that cite it keep their quotes."
            )
            st.html(f'<div class="ts small soft" role="status">{told}</div>', width="content")
            ui.button("Undo", "library-undo-do", _restore, source_id, icon="undo")


def forget_undo() -> None:
    """There is nothing to take back any more."""
    st.session_state.pop(UNDO_KEY, None)


def _delete(source_id: str, title: str) -> None:
    undo = {UNDO_KEY: (source_id, title)}
    client.submit(client.library().delete, source_id, then=lambda _: st.session_state.update(undo))


def _restore(source_id: str) -> None:
    client.submit(client.library().restore, source_id, done="It is back on the shelf.")
    forget_undo()


def _save_tags(source_id: str, key: str) -> None:
    shelf, wanted = client.library(), set(st.session_state.get(f"library-tags-{key}") or [])
    had = set(shelf.source(source_id).tags)

    def change() -> None:
        shelf.tag(source_id, *(had - wanted), away=True)
        shelf.tag(source_id, *(wanted - had))

    client.submit(change)


def _save_description(source_id: str) -> None:
    draft = f"describe:{source_id}"
    kept: Any = {
        "done": "The description is kept.",
        "then": lambda _: client.workbench().store.draft(draft, ""),
    }
    client.submit(client.library().describe, source_id, drafts.read(draft), "person", **kept)
