"""The sources of the library as rows: filters above, a page at a time, what can be done with each; a bin with a way back."""

from __future__ import annotations

from typing import Any

import streamlit as st

from agent.holdings import Library
from agent.types import LibrarySource
from agent.wording import counted
from pages.widgets import address, empty, library_source

PAGE = 20
FIND, KIND, TAG, AGE, BIN, AT = "library-find", "library-kind", "library-tag", "library-age", "library-bin", "library-page"
TURN = "library-turn"
"""How often the list was begun anew: part of the key of what turns its pages."""
KINDS = {"": "Any kind", "page": "Web pages", "file": "Documents", "topic": "Team topics"}
AGES = {0: "Read at any time", 1: "Not read for a day", 7: "Not read for a week", 30: "Not read for a month", 180: "Not read for half a year"}


def draw(shelf: Library, held: int) -> None:
    """Filters, the rows that fit, and the way to the other pages of the list."""
    tags = shelf.tags()
    choices = _choices(list(tags))
    address.recall(choices)
    asked = _filters(tags)
    library_source.undo()
    found = shelf.count(**asked)
    if found:
        _rows(shelf, asked, found, list(tags))
    else:
        _nothing(held, deleted=bool(asked["deleted"]))
    address.keep(choices)


def _choices(tags: list[str]) -> dict[str, address.Choice]:
    return {
        "find": (FIND, "", None), "kind": (KIND, "", KINDS), "tag": (TAG, "", ["", *tags]), "age": (AGE, 0, AGES), "bin": (BIN, False, None),
        "at": (AT, 1, range(1, 1_000_000)),
    }  # fmt: skip


def _rows(shelf: Library, asked: dict[str, Any], found: int, tags: list[str]) -> None:
    pages = (found + PAGE - 1) // PAGE
    at = st.session_state[AT] = min(max(1, int(st.session_state.get(AT) or 1)), pages)
    rows = shelf.sources(**asked, limit=PAGE, offset=(at - 1) * PAGE)
    st.html(f'<div class="ts" role="status"><p class="small soft">{_told(found, rows, at, deleted=asked["deleted"])}</p></div>')
    with st.container(gap="xsmall", key="library-list"):
        for source in rows:
            library_source.row(source, tags)
    if pages > 1:
        turn = f"library-turn-{st.session_state.get(TURN, 0)}"
        st.pagination(pages, default=at, key=turn, max_visible_pages=5, on_change=_turned, args=(turn,))


def _filters(tags: dict[str, int]) -> dict[str, Any]:
    """The row of filters; returns what the library is asked for."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="library-filters"):
        hint = "title, address or description"
        text = st.text_input("Filter", key=FIND, placeholder=hint, type="search", live="300ms", width=300, on_change=_first)
        kind = st.selectbox("Kind", list(KINDS), key=KIND, format_func=KINDS.get, width=150, filter_mode=None, on_change=_first)
        if st.session_state[TAG] not in ("", *tags):
            st.session_state[TAG] = ""
        tag = st.selectbox(
            "Tag", ["", *tags], key=TAG, format_func=lambda name: f"{name} ({tags[name]})" if name else "Any tag", width=170, on_change=_first,
        )  # fmt: skip
        age = st.selectbox("Age", list(AGES), key=AGE, format_func=AGES.get, width=210, filter_mode=None, on_change=_first)
        gone = st.toggle("In the bin", key=BIN, on_change=_first)
    return {"text": text or "", "kind": kind or "", "tag": tag or "", "stale_days": age or None, "deleted": bool(gone)}


def _first() -> None:
    """Another filter: back to the first page of the list."""
    st.session_state[AT] = 1
    st.session_state[TURN] = int(st.session_state.get(TURN, 0)) + 1


def _turned(key: str) -> None:
    st.session_state[AT] = st.session_state[key]


def _told(found: int, rows: list[LibrarySource], at: int, *, deleted: bool) -> str:
    first = (at - 1) * PAGE + 1
    shown = f", {first} to {first + len(rows) - 1} shown" if found > PAGE else ""
    return f"{counted(found, 'source')}{' in the bin' if deleted else ''}{shown}"


def _nothing(held: int, *, deleted: bool) -> None:
    if deleted:
        empty.draw("Nothing in the bin fits", "What you delete is kept here until you take it out again.")
    elif held:
        empty.draw("No source fits", "Change the filter above, or look inside the texts with Search.")
        st.button("Show everything", key="library-clear", icon=":material/filter_alt_off:", on_click=_clear)
    else:
        empty.draw("Everything is in the bin", "Turn on “In the bin” above to take sources out again, or add documents.")


def _clear() -> None:
    for key, value in ((FIND, ""), (KIND, ""), (TAG, ""), (AGE, 0), (BIN, False)):
        st.session_state[key] = value
    _first()
