"""The library: what runs read and people add; searched, opened, tagged, deleted. `?view=` names the part."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.widgets.library import passage_search, source_list, upload
from pages.widgets.shell import client, url_state

VIEW_KEY, WAS_EMPTY_KEY = "library-view", "library-first"
"""The part that is shown, and whether the screen of an empty library was drawn last."""
PARTS = {
    "sources": ":material/shelves: Sources",
    "search": ":material/manage_search: Search",
    "add": ":material/note_add: Add",
}
URL_FIELDS: dict[str, url_state.UrlField] = {"view": (VIEW_KEY, "sources", PARTS)}

shelf = client.library()
shelf.index_pending()
held = shelf.count()
st.html(
    '<div class="ts ts-hero"><h1>Library</h1><p>Every page your runs have read and every document you add. '
    "Reply and Chat answer from it.</p></div>"
)
client.show_notice("library")
if held or shelf.count(deleted=True):
    if st.session_state.pop(WAS_EMPTY_KEY, False) and upload.RESULT_KEY in st.session_state:
        st.query_params["view"] = "add"  # what came of the very first adding stands there
    url_state.restore(URL_FIELDS)
    shown: Any = {"required": True, "label_visibility": "collapsed", "format_func": PARTS.get}
    part = st.segmented_control("Part of the library", list(PARTS), key=VIEW_KEY, **shown)
    url_state.save(URL_FIELDS)
    if part == "search":
        passage_search.draw(shelf)
    elif part == "add":
        upload.draw()
    else:
        source_list.draw(shelf, held)
else:
    st.session_state[WAS_EMPTY_KEY] = True
    st.html(
        '<div class="ts empty"><b>The library is empty</b>Ask something on the Research page, and every page '
        "that is read lands here. Or add documents of your own below: they stay on this computer.</div>"
    )
    upload.draw_demo_button()
    upload.draw()
