"""The screen of a stored page: how it came, its text with every quote marked and the facts beside it, its links, its other versions."""

from __future__ import annotations

import streamlit as st

from agent import versions
from agent.errors import NotFound
from agent.types import GIVEN, Fact, Page
from agent.urls import host
from agent.wording import counted
from agent.workbench import View
from pages.widgets import door, empty, safe, screens, stored, words
from pages.widgets import versions as side_by_side

LINKS = 200


def draw() -> None:
    """The page that the address names, or what to do when there is none."""
    bench, asked = door.workbench(), st.query_params
    page, view = _found(asked.get("id", ""), asked.get("run", ""))
    _way_back(view)
    if page and host(page.final_url or page.url).endswith(".example"):
        st.html('<div class="ts band" role="note"><b>The demo world (invented pages).</b> Nothing here is about the real world.</div>')
    if page is None:
        more = "Open a page from the library, or from a run: its map of pages, its facts, the sources of its answer."
        empty.draw("No stored page is called this", more)
        return
    page_id, fact_id = asked["id"], asked.get("fact", "")
    passage = stored.passage(page.text, asked.get("from", ""), asked.get("to", ""))
    kept = [fact for fact in view.state.facts.values() if fact.page_id == page_id] if view else []
    ref = next((ref for ref in view.state.pages.values() if ref.page_id == page_id), None) if view else None
    st.html(f'<div class="ts"><h1 class="ts-question">{safe.html(page.title or safe.host(page.url))}</h1></div>')
    if GIVEN[page.origin]:
        told = "A person gave it and says it is this page's. It was not fetched from its address."
        st.html(f'<div class="ts band" role="note"><b>{GIVEN[page.origin].capitalize()}.</b> {told}</div>')
    st.html(f'<div class="ts">{stored.about(page, ref)}</div>')
    _body(page, page_id)
    found = versions.of(bench, page)
    if len(found) > 1:
        st.html('<div class="ts"><h2 class="ts-section">Versions of this page</h2></div>')
        st.html(side_by_side.listed(found, page_id, asked.get("run", ""), asked.get("with", "")))
        if asked.get("with") in {version.page_id for version in found} - {page_id}:
            _compared(page, asked["with"], kept)
    _text(page, kept, passage, fact_id)
    if page.links:
        with st.expander(f"{counted(len(page.links), 'link')} on this page", icon=":material/link:", key="page-links"):
            st.html(stored.links(page, LINKS))


def _found(page_id: str, run_id: str) -> tuple[Page | None, View | None]:
    bench = door.workbench()
    try:
        return bench.page(page_id), bench.view(run_id) if run_id else None
    except NotFound:
        return None, None


def _way_back(view: View | None) -> None:
    asked = st.query_params
    if asked.get("run"):
        screen = screens.of(view.run.settings.flow) if view else screens.FRONT
        st.page_link(screen, label="Back to the run", query_params={"run": asked["run"]}, icon=":material/arrow_back:")
    else:
        back = {"view": "search", "q": asked["find"]} if asked.get("find") else {}
        st.page_link("pages/library.py", label="Back to the library", query_params=back, icon=":material/arrow_back:")


def _body(page: Page, page_id: str) -> None:
    """The body as it came, to take along; it is never shown or run here."""
    store = door.workbench().store.pages
    plain, packed = store.sizes(page_id)
    if not plain:
        return
    name, kind = stored.file_of(page)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.download_button(
            "Download as it came", lambda: store.get(page_id, raw=True).raw, name, kind, key="page-raw", icon=":material/download:",
            on_click="ignore", help="The body that the server sent, as a plain file: nothing of it is run here",
        )  # fmt: skip
        st.caption(f"{plain:,} bytes as it came; kept compressed in {packed:,}")


def _compared(page: Page, other_id: str, kept: list[Fact]) -> None:
    """This version and another, the earlier one on the left."""
    other = door.workbench().page(other_id)
    old, new = sorted((page, other), key=lambda one: one.fetched_at)
    told = versions.compare(old, new, kept)
    st.html(side_by_side.fates(told))
    names = (f"{'This version' if one is page else 'The other'}: {words.when(one.fetched_at)}" for one in (old, new))
    st.html(side_by_side.drawn(told, *names))


def _text(page: Page, kept: list[Fact], passage: Fact | None, chosen: str) -> None:
    """The text as it was read, in windows when it is long, with what was kept beside it."""
    marks = [passage] if passage else kept
    first = passage or next((fact for fact in kept if fact.id == chosen), None)
    if passage:
        quote = safe.html(passage.quote.strip())
        st.html(f'<div class="ts"><h2 class="ts-section">The passage that was found</h2><div class="quote paper">{quote}</div></div>')
    elif first:
        st.html(f'<div class="ts"><h2 class="ts-section">The quote</h2>{stored.in_context(page.text, first, kept)}</div>')
    if not page.text:
        empty.draw("No text is stored", page.detail or "Nothing could be read of this page.")
        return
    found = stored.windows(page.text)
    left, right = st.columns([5, 2], gap="large") if kept and not passage else (st.container(), None)
    with left:
        st.html(f'<div class="ts"><h2 class="ts-section">The text as it was {"given" if GIVEN[page.origin] else "read"}</h2></div>')
        number = 1
        if len(found) > 1:
            at = stored.window_of(found, first.start if first else 0)
            number = st.pagination(len(found), default=at, key=f"page-part-{chosen or at}")
        start, end = found[number - 1]
        st.html(f'<div class="ts paper">{stored.marked(page.text, marks, chosen=chosen, start=start, end=end)}</div>')
    if right is not None:
        with right:
            told = stored.beside(kept, st.query_params.get("run", ""), chosen, found)
            st.html(f'<div class="ts"><h2 class="ts-section">Kept from this page</h2>{told}</div>')
