"""The Library screen: what it holds, in three parts, one drawn at a time; how to fill an empty one."""

from __future__ import annotations

import streamlit as st

from agent.library.collection import Library
from pages.widgets.library import demo, passage_search, source_list, upload
from pages.widgets.shell import client, url_state

VIEW_KEY, WAS_EMPTY_KEY = "library-view", "library-first"
"""The part that is shown, and whether the screen of an empty library was drawn last."""
SOURCES, SEARCH, ADD = "sources", "search", "add"
PARTS = {SOURCES: "Sources", SEARCH: "Search", ADD: "Add"}
URL_FIELDS: dict[str, url_state.UrlField] = {"view": (VIEW_KEY, SOURCES, PARTS)}
ICONS = {SOURCES: "shelves", SEARCH: "manage_search", ADD: "note_add"}


def draw() -> None:
    """The whole screen."""
    shelf = client.library()
    shelf.index_pending()
    held = shelf.count()
    st.html(
        '<div class="ts ts-hero"><h1>Library</h1><p>Every page your runs have '
        "read and every document you add. "
        "Reply and Chat answer from it.</p></div>"
    )
    client.show_notice("library")
    if not held and not shelf.count(deleted=True):
        _draw_first_time()
        return
    if st.session_state.pop(WAS_EMPTY_KEY, False) and upload.RESULT_KEY in st.session_state:
        st.query_params["view"] = ADD  # what came of the very first adding stands there
    asked = st.query_params.get("view", SOURCES)
    part = st.segmented_control(
        "Part of the library",
        list(PARTS),
        key=VIEW_KEY,
        default=asked if asked in PARTS else SOURCES,
        required=True,
        label_visibility="collapsed",
        format_func=lambda name: f":material/{ICONS[name]}: {PARTS[name]}",
    )
    url_state.save(URL_FIELDS)
    _draw_part(part or SOURCES, shelf, held)


def _draw_part(name: str, shelf: Library, held: int) -> None:
    if name == SEARCH:
        passage_search.draw(shelf)
    elif name == ADD:
        upload.draw()
    else:
        source_list.draw(shelf, held)


def _draw_first_time() -> None:
    st.session_state[WAS_EMPTY_KEY] = True
    st.html(
        '<div class="ts empty"><b>The library is empty</b>Ask something on the Research page, '
        "and every page that is read lands here. "
        "Or add documents of your own below: they stay on this computer.</div>"
    )
    demo.draw_demo_button()
    upload.draw()
