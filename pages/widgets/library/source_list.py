"""The library's sources as rows: filters, pages, what can be done with each; a bin with a way back."""

from __future__ import annotations

from typing import Any

import streamlit as st

from agent.library.collection import Library
from agent.text.plurals import format_count
from pages.widgets.library import source_row
from pages.widgets.shell import client, empty_state, pagination, ui, url_state

PAGE_SIZE = 20
FIND_KEY, KIND_KEY, TAG_KEY, AGE_KEY, BIN_KEY, PAGE_KEY, WHOSE_KEY = (
    f"library-{name}" for name in ("find", "kind", "tag", "age", "bin", "page", "whose")
)
KINDS = {"": "Any kind", "page": "Web pages", "file": "Documents", "topic": "Team topics"}
AGES = {
    0: "Read at any time",
    1: "Not read for a day",
    7: "Not read for a week",
    30: "Not read for a month",
    180: "Not read for half a year",
}


def draw(shelf: Library, held: int) -> None:
    """Filters, the rows that fit, and the way to the other pages of the list."""
    tags = shelf.tags()
    choices: dict[str, url_state.UrlField] = {
        "find": (FIND_KEY, "", None),
        "kind": (KIND_KEY, "", KINDS),
        "tag": (TAG_KEY, "", ["", *tags]),
        "age": (AGE_KEY, 0, AGES),
        "bin": (BIN_KEY, False, None),
        "at": (PAGE_KEY, 1, range(1, 1_000_000)),
        "whose": (WHOSE_KEY, "own", ("own", "demo")),
    }
    url_state.restore(choices)
    asked = _draw_filters(shelf, tags)
    source_row.draw_undo()
    found = shelf.count(**asked)
    if found:
        _draw_rows(shelf, asked, found, list(tags))
    elif asked["deleted"]:
        empty_state.draw("Nothing in the bin fits", "What you delete stays here until you empty the bin.")
    elif held:
        empty_state.draw("No source fits", "Change the filter above, or look inside the texts with Search.")
        plain = {key: value for key, value, _ in choices.values() if key != WHOSE_KEY}
        ui.button("Show everything", "library-clear", st.session_state.update, plain, icon="filter_alt_off")
    else:
        text = "Turn on “In the bin” above to take sources out again, or add documents."
        empty_state.draw("Everything is in the bin", text)
    url_state.save(choices)


def _draw_rows(shelf: Library, asked: dict[str, Any], found: int, tags: list[str]) -> None:
    pages = (found + PAGE_SIZE - 1) // PAGE_SIZE
    at = st.session_state[PAGE_KEY] = min(max(1, int(st.session_state.get(PAGE_KEY) or 1)), pages)
    rows = shelf.sources(**asked, limit=PAGE_SIZE, offset=(at - 1) * PAGE_SIZE)
    told = f"{format_count(found, 'source')}{' in the bin' if asked['deleted'] else ''}"
    st.html(f'<div class="ts" role="status"><p class="small soft">{told}</p></div>')
    if asked["deleted"]:
        _draw_empty_bin(shelf)
    with st.container(gap="xsmall", key="library-list"):
        for source in rows:
            source_row.draw(source, tags)
    pagination.draw(found, PAGE_SIZE, PAGE_KEY, "sources")


def _draw_empty_bin(shelf: Library) -> None:
    """The way to remove everything in the bin for good, with a confirmation."""
    binned = format_count(shelf.count(deleted=True), "source")
    with ui.popover("Empty the bin", "library-empty-bin", "delete_forever", type="tertiary"):
        st.markdown(
            f"Removes {binned} for good, whatever the filter shows. Pages that a run cites stay with the "
            "run. Files of a folder that is kept in sync stay in the bin."
        )
        ui.button(
            f"Remove {binned} for good",
            "library-empty-bin-do",
            client.submit,
            client.library().empty_bin,
            icon="delete_forever",
            kwargs={"done": "Removed for good.", "then": lambda _: source_row.forget_undo()},
            type="primary",
        )


def _draw_filters(shelf: Library, tags: dict[str, int]) -> dict[str, Any]:
    """The row of filters; returns what the library is asked for."""
    first: dict[str, Any] = {"on_change": st.session_state.update, "args": ({PAGE_KEY: 1},)}
    own, demo = shelf.count(demo=False), shelf.count(demo=True)
    whose = {"own": f"Yours ({own})", "demo": f"Demo pages, invented ({demo})"}
    is_demo = None
    if own and demo:
        more = {"label_visibility": "collapsed", "format_func": whose.get, "required": True, **first}
        is_demo = st.segmented_control("Whose", list(whose), key=WHOSE_KEY, **more) == "demo"
    with st.container(horizontal=True, vertical_alignment="bottom", key="library-filters"):
        search = {"placeholder": "title, address or description", "live": "300ms", "width": 300}
        text = st.text_input("Filter", key=FIND_KEY, type="search", **search, **first)
        kind = ui.select("Kind", KINDS, KIND_KEY, width=150, **first)
        if st.session_state[TAG_KEY] not in ("", *tags):
            st.session_state[TAG_KEY] = ""
        names = {"": "Any tag"} | {name: f"{name} ({count})" for name, count in tags.items()}
        tag = ui.select("Tag", names, TAG_KEY, width=170, filter_mode="fuzzy", **first)
        age = ui.select("Age", AGES, AGE_KEY, width=210, **first)
        gone = st.toggle("In the bin", key=BIN_KEY, **first)
    wanted = {"text": text or "", "kind": kind, "tag": tag, "stale_days": age or None, "deleted": bool(gone)}
    return wanted | {"demo": None if gone else is_demo}
