"""Search inside the library: the passages that say most, best first, the words marked; how they were found is told."""

from __future__ import annotations

import streamlit as st

from agent.errors import StoreError
from agent.holdings import Library
from agent.types import Found, Passage, Scope
from agent.wording import counted
from pages.widgets import address, chips, empty, safe, snippets

FIND, TAGS, MORE = "library-search", "library-search-tags", "library-search-more"
CHOICES: dict[str, address.Choice] = {"q": (FIND, "", None)}
SHOWN = 15


def draw(shelf: Library) -> None:
    """The box, and what was found."""
    address.recall(CHOICES)
    with st.container(horizontal=True, vertical_alignment="bottom", key="library-search-row"):
        asked = st.text_input(
            "Search the texts", key=FIND, type="search", live="400ms", placeholder="words or a question, in any language", on_change=_anew,
        )  # fmt: skip
        tags = st.multiselect("Only with a tag", list(shelf.tags()), key=TAGS, width=260, placeholder="everything", on_change=_anew)
    address.keep(CHOICES)
    if not (asked or "").strip():
        empty.draw("Nothing is looked for yet", "Type a few words or a whole question: passages that bear on it appear with their words marked.")
        return
    k = SHOWN * (1 + int(st.session_state.get(MORE, 0)))
    try:
        found = shelf.search(asked or "", k, scope=Scope(tags=tags))
    except StoreError as trouble:
        st.warning(safe.md(str(trouble)), icon=":material/warning:")
        return
    st.html(f'<div class="ts" role="status">{told(found, more=len(found.hits) >= k)}</div>')
    if not found.hits:
        empty.draw("No passage holds these words", "Try other words or fewer of them; a tag chosen above narrows the search.")
        return
    with st.container(gap="small", key="library-passages"):
        for hit in found.hits:
            _passage(hit, asked or "")
    if len(found.hits) >= k:
        st.button("Show more", key="library-search-next", icon=":material/expand_more:", on_click=_more)


def told(found: Found, *, more: bool = False) -> str:
    """How many passages there are and how they were found, as HTML."""
    count = counted(len(found.hits), "passage")
    line = f"{'The best ' if more else ''}{count}, best first, found by {found.by}."
    why = f'<details class="small soft"><summary>Why not by meaning, too?</summary>{safe.html(found.note)}</details>' if found.note else ""
    return f'<p class="small soft">{line}</p>{why}'


def _passage(hit: Passage, query: str) -> None:
    """A passage: its title opens the stored page with the passage marked."""
    with st.container(gap=None, key=f"library-passage-{hit.id.replace(':', '-')}"):
        under = f" › {hit.heading}" if hit.heading and not hit.rows else ""
        label = safe.md(f"{hit.title or hit.source_id}{under}", 130)
        st.page_link("pages/page.py", label=label, query_params={"id": hit.page_id, "from": str(hit.start), "to": str(hit.end), "find": query})
        st.html(body(hit, query))


def body(hit: Passage, query: str) -> str:
    """The telling part of a passage and where it stands, as HTML."""
    header = "" if hit.text.startswith(hit.heading) else safe.html(safe.shorten(hit.heading, 160))
    columns = f'<p class="small soft">{chips.one("rows of a table")} {header}</p>' if hit.rows else ""
    place = safe.link(hit.url) if safe.href(hit.url) else safe.html(hit.source_id)
    telling = snippets.snippet(_below(hit), query, rows=hit.rows)
    return f'<div class="ts passage">{columns}<p class="snippet">{telling}</p><p class="small soft">{place}</p></div>'


def _below(hit: Passage) -> str:
    """The passage without the heading it begins with: that stands above it."""
    first, _, rest = hit.text.partition("\n")
    known = (hit.title, hit.heading.rsplit(" › ", 1)[-1])
    return rest.strip() if first.strip() in known and rest.strip() and not hit.rows else hit.text


def _anew() -> None:
    st.session_state.pop(MORE, None)


def _more() -> None:
    st.session_state[MORE] = int(st.session_state.get(MORE, 0)) + 1
