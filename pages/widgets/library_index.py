"""The index as it is: plain text, an id and a line for each source. Reply chooses its sources by reading it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import streamlit as st

from agent.holdings import Library
from agent.types import IndexEntry, Scope
from agent.wording import counted
from pages.widgets import empty

TAGS = "library-index-tags"
SHOWN = 300
"""Entries that are drawn; the file that can be taken along holds all."""


def draw(shelf: Library) -> None:
    """The index, limited to tags if they are chosen."""
    st.html(
        '<div class="ts"><p class="soft">One entry a source: its id, then what it is about. This text is all that Reply reads before it chooses its '
        "sources, so a clear description is worth its line: change it under Manage in Sources.</p></div>"
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        tags = st.multiselect("Only with a tag", list(shelf.tags()), key=TAGS, width=260, placeholder="everything")
        entries = shelf.index(scope=Scope(tags=tags))
        if entries:
            st.download_button(
                "Download",
                text(entries),
                "library-index.txt",
                "text/plain",
                key="library-index-download",
                icon=":material/download:",
                on_click="ignore",
            )
    if not entries:
        empty.draw("The index is empty", "Add documents, or choose other tags.")
        return
    st.html(f'<div class="ts"><p class="small soft">{told(entries)}</p></div>')
    st.code(text(entries[:SHOWN]), language=None, wrap_lines=True, height=560)


def text(entries: Sequence[IndexEntry]) -> str:
    """The entries as plain text, as the library gives them."""
    return "\n\n".join(f"{entry.source_id}\n{entry.description}" for entry in entries)


def told(entries: Sequence[IndexEntry]) -> str:
    """How many entries there are and who wrote them."""
    by = Counter(entry.by for entry in entries)
    parts = [f"{by[who]:,} {said}" for who, said in (("model", "by the model"), ("person", "by you")) if by[who]]
    rest = "all made by rule" if not parts else f"{by['keyless']:,} made by rule"
    shown = f"; the first {SHOWN} are shown, the file holds all" if len(entries) > SHOWN else ""
    return f"{counted(len(entries), 'entry', 'entries')}: {', '.join([*parts, rest])}{shown}."
