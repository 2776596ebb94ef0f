"""Search inside the library: the best passages, the words marked; how they were found is told."""

from __future__ import annotations

import streamlit as st

from agent.errors import StoreError
from agent.library.collection import Library
from agent.text.plurals import format_count
from agent.types import LibraryScope, LibrarySearchResult, Passage
from pages.widgets.evidence import highlight
from pages.widgets.shell import badges, empty_state, escape, ui, url_state

FIND_KEY, TAGS_KEY, MORE_KEY = "library-search", "library-search-tags", "library-search-more"
URL_FIELDS: dict[str, url_state.UrlField] = {"q": (FIND_KEY, "", None)}
PAGE_SIZE = 15


def draw(shelf: Library) -> None:
    """The box, and what was found."""
    url_state.restore(URL_FIELDS)
    with st.container(horizontal=True, vertical_alignment="bottom", key="library-search-row"):
        asked = st.text_input(
            "Search the texts",
            key=FIND_KEY,
            type="search",
            live="400ms",
            placeholder="words or a question, in any language",
            on_change=_reset_pages,
        )
        tags = st.multiselect(
            "Only with a tag",
            list(shelf.tags()),
            key=TAGS_KEY,
            width=260,
            placeholder="everything",
            on_change=_reset_pages,
        )
    url_state.save(URL_FIELDS)
    if not (asked or "").strip():
        empty_state.draw(
            "No search yet",
            "Type a few words or a whole question: relevant passages appear with their words marked.",
        )
        return
    k = PAGE_SIZE * (1 + int(st.session_state.get(MORE_KEY, 0)))
    try:
        found = shelf.search(asked or "", k, scope=LibraryScope(tags=tags))
    except StoreError as trouble:
        st.warning(escape.md(str(trouble)), icon=":material/warning:")
        return
    st.html(f'<div class="ts" role="status">{render_summary(found, more=len(found.hits) >= k)}</div>')
    if not found.hits:
        empty_state.draw(
            "No passage holds these words",
            "Try other words or fewer of them; a tag chosen above narrows the search.",
        )
        return
    with st.container(gap="small", key="library-passages"):
        for hit in found.hits:
            _draw_passage(hit, asked or "")
    if len(found.hits) >= k:
        ui.button("Show more", "library-search-next", _show_more, icon="expand_more")


def render_summary(found: LibrarySearchResult, *, more: bool = False) -> str:
    """How many passages there are and how they were found, as HTML."""
    count = format_count(len(found.hits), "passage")
    line = f"{'The best ' if more else ''}{count}, best first, found by {found.by}."
    why = (
        (
            '<details class="small soft"><summary>Why not by meaning, too?</summary>'
            f"{escape.html(found.note)}</details>"
        )
        if found.note
        else ""
    )
    return f'<p class="small soft">{line}</p>{why}'


def _draw_passage(hit: Passage, query: str) -> None:
    """A passage: its title opens the stored page with the passage marked."""
    with st.container(gap=None, key=f"library-passage-{hit.id.replace(':', '-')}"):
        under = f" › {hit.heading}" if hit.heading else ""
        label = escape.md(f"{hit.title or hit.source_id}{under}", 130)
        ui.link(
            "pages/page.py",
            label,
            "",
            {"id": hit.page_id, "from": str(hit.start), "to": str(hit.end), "find": query},
        )
        st.html(render_passage(hit, query))


def render_passage(hit: Passage, query: str) -> str:
    """The telling part of a passage and where it stands, as HTML."""
    header = "" if hit.text.startswith(hit.label) else escape.html(escape.shorten(hit.label, 160))
    columns = f'<p class="small soft">{badges.render("rows of a table")} {header}</p>' if hit.rows else ""
    place = escape.render_link(hit.url) if escape.href(hit.url) else escape.html(hit.source_id)
    telling = highlight.render_snippet(hit.text, query, rows=hit.rows)
    return (
        f'<div class="ts passage">{columns}<p class="snippet">{telling}</p><p '
        f'class="small soft">{place}</p></div>'
    )


def _reset_pages() -> None:
    st.session_state.pop(MORE_KEY, None)


def _show_more() -> None:
    st.session_state[MORE_KEY] = int(st.session_state.get(MORE_KEY, 0)) + 1
