"""One source of the library as a row: what it is, and what can be done with it. Its text is a click away."""

from __future__ import annotations

import hashlib

import streamlit as st

from agent.types import LibrarySource
from agent.wording import counted
from pages.widgets import chips, door, drafts, library_fetch, safe, words

UNDO = "library-undo"
STALE_DAYS = 30
"""Days after which a web page that was not read again is marked."""
KIND = {"page": "web page", "file": "document", "topic": "team topic"}
BY = {"model": "described by the model", "person": "described by you"}


def row(source: LibrarySource, tags: list[str]) -> None:
    """The row; `tags` are those that exist."""
    key = mark(source)
    with st.container(border=True, key=f"library-row-{key}", gap=None), st.container(horizontal=True, vertical_alignment="center"):
        with st.container(gap=None, key=f"library-what-{key}"):
            st.page_link("pages/page.py", label=safe.md(title(source), 120), query_params={"id": source.page_id})
            st.html(about(source))
        if source.deleted_at:
            st.button(named("Take out", source), key=f"library-restore-{key}", icon=":material/undo:", on_click=_restore, args=(source.source_id,))
        else:
            _manage(source, tags, key)
            st.button(
                named("Delete", source),
                key=f"library-delete-{key}",
                icon=":material/delete:",
                type="tertiary",
                on_click=_delete,
                args=(source.source_id, source.title),
            )


def named(does: str, source: LibrarySource) -> str:
    """The label of a row's button. The stylesheet hides what it is about from the eye: who hears the screen needs it, a row is not seen."""
    return f"{does} *{safe.md(title(source), 60)}*"


def mark(source: LibrarySource) -> str:
    """A short name of a source for a widget's key."""
    return hashlib.sha256(source.source_id.encode()).hexdigest()[:10]


def about(source: LibrarySource) -> str:
    """What the source is, in a few lines of HTML."""
    place = safe.link(source.url, safe.address(source.url, 60)) if safe.href(source.url) else safe.html(source.source_id)
    marks = [(KIND[source.kind], ""), *((f"#{tag}", "live") for tag in source.tags)]
    if source.gone_at:
        marks.append(("its file is gone", "warn"))
    if safe.href(source.url) and words.days_since(source.fetched_at) >= STALE_DAYS:
        marks.append(("stale", "warn"))
    read = f"read {words.ago(source.fetched_at)}" if source.fetched_at else ""
    told = " · ".join(part for part in (place, counted(source.passages, "passage"), read, BY.get(source.described_by, "")) if part)
    detail = f'<p class="small warned">{safe.html(source.detail)}</p>' if source.detail else ""
    return (
        f'<div class="ts source"><p class="small">{safe.html(safe.shorten(_without_title(source), 240))}</p>{detail}'
        f'<div class="chips">{chips.row(marks)}<span class="small soft">{told}</span></div></div>'
    )


def title(source: LibrarySource) -> str:
    """What a source is called on the screen."""
    return source.title or safe.address(source.url) or source.source_id


def _without_title(source: LibrarySource) -> str:
    """The description without the title it may begin with: that stands above it."""
    rest = source.description.removeprefix(source.title) if source.title else source.description
    return rest.lstrip(" :—-") if rest != source.description else source.description


def _manage(source: LibrarySource, tags: list[str], key: str) -> None:
    """Tags, the description, reading it again: drawn when it is opened."""
    opened = st.popover(named("Manage", source), icon=":material/edit:", type="tertiary", key=f"library-manage-{key}", on_change="rerun")
    if not opened.open:
        return
    with opened:
        st.multiselect(
            "Tags", sorted({*tags, *source.tags}), default=source.tags, key=f"library-tags-{key}", accept_new_options=True, on_change=_tags,
            args=(source.source_id, key), placeholder="choose, or type a new one",
        )  # fmt: skip
        text_key, draft = f"library-about-{key}", f"describe:{source.source_id}"
        if text_key not in st.session_state and not door.workbench().draft(draft):
            st.session_state[text_key] = source.description
        drafts.area("What it is about (Reply chooses by this)", text_key, draft, height=120)
        st.button("Keep this description", key=f"library-describe-{key}", on_click=_describe, args=(source.source_id, text_key, draft))
        with st.container(horizontal=True, vertical_alignment="center"):
            st.page_link("pages/chat.py", label="Talk about it", query_params={"source": source.source_id}, icon=":material/chat:")
            asked = bool(safe.href(source.url)) and st.button("Read again", key=f"library-again-{key}", icon=":material/refresh:")
        if asked:
            _again(source.source_id)


def undo() -> None:
    """What was deleted last, with the way back."""
    source_id, title = st.session_state.get(UNDO, ("", ""))
    if source_id:
        with st.container(horizontal=True, vertical_alignment="center", key="library-undo-row"):
            gone = safe.html(safe.shorten(title or source_id, 60))
            told = f"“{gone}” is in the bin. Nothing is found in it now; answers that cite it keep their quotes."
            st.html(f'<div class="ts small soft" role="status">{told}</div>', width="content")
            st.button("Undo", key="library-undo-do", icon=":material/undo:", on_click=_restore, args=(source_id,))


def _again(source_id: str) -> None:
    with st.spinner("Reading it again …"):
        door.tell(library_fetch.again, source_id, then=lambda told: door.notice("success", told))
    st.rerun()


def _delete(source_id: str, title: str) -> None:
    door.tell(door.holdings().delete, source_id, then=lambda _: st.session_state.update({UNDO: (source_id, title)}))


def _restore(source_id: str) -> None:
    door.tell(door.holdings().restore, source_id, done="It is back on the shelf.")
    st.session_state.pop(UNDO, None)


def _tags(source_id: str, key: str) -> None:
    shelf, wanted = door.holdings(), set(st.session_state.get(f"library-tags-{key}") or [])
    had = set(shelf.source(source_id).tags)

    def change() -> None:
        shelf.untag(source_id, *(had - wanted))
        shelf.tag(source_id, *(wanted - had))

    door.tell(change)


def _describe(source_id: str, key: str, draft: str) -> None:
    text = st.session_state.get(key) or ""
    door.tell(door.holdings().describe, source_id, text, "person", done="The description is kept.", then=lambda _: door.workbench().draft(draft, ""))
