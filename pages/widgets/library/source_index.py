"""The index as it is: plain text, an id and a line for each source, as reply reads it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import streamlit as st

from agent.library.collection import Library
from agent.text.plurals import format_count
from agent.types import IndexEntry, LibraryScope
from pages.widgets.shell import empty_state

TAGS_KEY = "library-index-tags"
MAX_ENTRIES = 300
"""Entries that are drawn; the file that can be taken along holds all."""


def draw(shelf: Library) -> None:
    """The index, limited to tags if they are chosen."""
    st.html(
        '<div class="ts"><p class="soft">One entry a source: its id, then what it is about. This text '
        "is all that Reply reads before it chooses its "
        "sources, so a clear description is worth its line: change it under Manage in Sources.</p></div>"
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        tags = st.multiselect(
            "Only with a tag", list(shelf.tags()), key=TAGS_KEY, width=260, placeholder="everything"
        )
        entries = shelf.index(scope=LibraryScope(tags=tags))
        if entries:
            st.download_button(
                "Download",
                format_entries(entries),
                "library-index.txt",
                "text/plain",
                key="library-index-download",
                icon=":material/download:",
                on_click="ignore",
            )
    if not entries:
        empty_state.draw("The index is empty", "Add documents, or choose other tags.")
        return
    st.html(f'<div class="ts"><p class="small soft">{describe_entries(entries)}</p></div>')
    st.code(format_entries(entries[:MAX_ENTRIES]), language=None, wrap_lines=True, height=560)


def format_entries(entries: Sequence[IndexEntry]) -> str:
    """The entries as plain text, as the library gives them."""
    return "\n\n".join(f"{entry.source_id}\n{entry.description}" for entry in entries)


def describe_entries(entries: Sequence[IndexEntry]) -> str:
    """How many entries there are and who wrote them."""
    by = Counter(entry.by for entry in entries)
    parts = [
        f"{by[who]:,} {said}" for who, said in (("model", "by the model"), ("person", "by you")) if by[who]
    ]
    rest = "all made by rule" if not parts else f"{by['keyless']:,} made by rule"
    shown = f"; the first {MAX_ENTRIES} are shown, the file holds all" if len(entries) > MAX_ENTRIES else ""
    return f"{format_count(len(entries), 'entry', 'entries')}: {', '.join([*parts, rest])}{shown}."
