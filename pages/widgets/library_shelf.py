"""The Library screen: what it holds, in four parts of which one is drawn; an empty library says how to fill it."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from agent.holdings import Library
from pages.widgets import address, door, drafts, library_add, library_demo, library_index, library_list, library_search

HERE = Path(__file__).parent
VIEW, FIRST = "library-view", "library-first"
"""The part that is shown, and whether the screen of an empty library was drawn last."""
SOURCES, SEARCH, INDEX, ADD = "sources", "search", "index", "add"
PARTS = {SOURCES: "Sources", SEARCH: "Search", INDEX: "Index", ADD: "Add"}
CHOICES: dict[str, address.Choice] = {"view": (VIEW, SOURCES, PARTS)}
ICONS = {SOURCES: "shelves", SEARCH: "manage_search", INDEX: "toc", ADD: "note_add"}


def draw() -> None:
    """The whole screen."""
    st.html(HERE / "library.css")
    shelf = door.holdings()
    shelf.catch_up()
    held = shelf.count()
    st.html(
        '<div class="ts ts-hero"><h1>Library</h1><p>Every page your runs have read and every document you add. '
        "Reply and Chat answer from it.</p></div>"
    )
    door.show_notice("library")
    drafts.keep()
    if not held and not shelf.count(deleted=True):
        _first_time()
        return
    if st.session_state.pop(FIRST, False) and library_add.TOLD in st.session_state:
        st.query_params["view"] = ADD  # what came of the very first adding stands there
    asked = st.query_params.get("view", SOURCES)
    part = st.segmented_control(
        "Part of the library", list(PARTS), key=VIEW, default=asked if asked in PARTS else SOURCES, required=True, label_visibility="collapsed",
        format_func=lambda name: f":material/{ICONS[name]}: {PARTS[name]}",
    )  # fmt: skip
    address.keep(CHOICES)
    _part(part or SOURCES, shelf, held)


def _part(name: str, shelf: Library, held: int) -> None:
    if name == SEARCH:
        library_search.draw(shelf)
    elif name == INDEX:
        library_index.draw(shelf)
    elif name == ADD:
        library_add.draw()
    else:
        library_list.draw(shelf, held)


def _first_time() -> None:
    st.session_state[FIRST] = True
    st.html(
        '<div class="ts empty"><b>The library is empty</b>Ask something on the Research page, and every page that is read lands here. '
        "Or add documents of your own below: they stay on this computer.</div>"
    )
    library_demo.button()
    library_add.draw()
