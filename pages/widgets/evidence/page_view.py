"""The screen of a stored page: how it came, its text with quotes marked, facts, links, other versions."""

from __future__ import annotations

import streamlit as st

from agent.actions import sources
from agent.errors import NotFound
from agent.text.plurals import format_count
from agent.text.urls import host
from agent.types import PAGE_ORIGIN_LABELS, Fact, Page
from agent.types.facts import number_step
from agent.workbench import RunSnapshot
from pages.widgets.evidence import page_text
from pages.widgets.evidence import page_versions as side_by_side
from pages.widgets.shell import client, empty_state, escape, labels, routes, ui

MAX_LINKS = 200


def draw() -> None:
    """The page that the address names, or what to do when there is none."""
    bench, asked = client.workbench(), st.query_params
    page, view = _load_page(asked.get("id", ""), asked.get("run", ""))
    _draw_back_link(view)
    if page and host(page.final_url or page.url).endswith(".example"):
        st.html(
            '<div class="ts band" role="note"><b>The demo world (invented pages).</b> Nothing '
            "here is about the real world.</div>"
        )
    if page is None:
        more = (
            "Open a page from the library, or from a run: its source graph, its "
            "facts, the sources of its answer."
        )
        empty_state.draw("No stored page is called this", more)
        return
    page_id, fact_id = asked["id"], asked.get("fact", "")
    passage = page_text.parse_passage(page.text, asked.get("from", ""), asked.get("to", ""))
    kept = [fact for fact in view.state.facts.values() if fact.page_id == page_id] if view else []
    ref = next((ref for ref in view.state.pages.values() if ref.page_id == page_id), None) if view else None
    step = number_step(view.state.actions, ref.step) if view and ref else 0
    st.html(
        '<div class="ts"><h1 class="ts-question">'
        f"{escape.html(page.title or escape.host(page.url))}</h1></div>"
    )
    if PAGE_ORIGIN_LABELS[page.origin]:
        told = "A person gave it and says it is this page's. It was not fetched from its address."
        st.html(
            '<div class="ts band" role="note"><b>'
            f"{PAGE_ORIGIN_LABELS[page.origin].capitalize()}.</b> {told}</div>"
        )
    st.html(f'<div class="ts">{page_text.render_metadata(page, ref, step)}</div>')
    _draw_download(page, page_id)
    found = sources.list_versions(bench, page)
    if len(found) > 1:
        ui.heading("Versions of this page")
        st.html(side_by_side.render_versions(found, page_id, asked.get("run", ""), asked.get("with", "")))
        if asked.get("with") in {version.page_id for version in found} - {page_id}:
            _draw_comparison(page, asked["with"], kept)
    _draw_text(page, kept, passage, fact_id)
    if page.links:
        with st.expander(
            f"{format_count(len(page.links), 'link')} on this page", icon=":material/link:", key="page-links"
        ):
            st.html(page_text.render_links(page, MAX_LINKS))


def _load_page(page_id: str, run_id: str) -> tuple[Page | None, RunSnapshot | None]:
    bench = client.workbench()
    try:
        return bench.page(page_id), bench.snapshot(run_id) if run_id else None
    except NotFound:
        return None, None


def _draw_back_link(view: RunSnapshot | None) -> None:
    asked = st.query_params
    if asked.get("run"):
        screen = routes.page_for_flow(view.run.settings.flow) if view else routes.FRONT_PAGE
        ui.link(screen, "Back to the run", "arrow_back", {"run": asked["run"]})
    else:
        back = {"view": "search", "q": asked["find"]} if asked.get("find") else {}
        ui.link("pages/library.py", "Back to the library", "arrow_back", back)


def _draw_download(page: Page, page_id: str) -> None:
    """The body as it came, to take along; it is never shown or run here."""
    store = client.workbench().store.pages
    plain, packed = store.body_sizes(page_id)
    if not plain:
        return
    name, kind = page_text.choose_file_name(page)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.download_button(
            "Download original",
            lambda: store.get(page_id, raw=True).raw,
            name,
            kind,
            key="page-raw",
            icon=":material/download:",
            on_click="ignore",
            help="The body that the server sent, as a plain file: nothing of it is run here",
        )
        st.caption(f"{plain:,} bytes as it came; kept compressed in {packed:,}")


def _draw_comparison(page: Page, other_id: str, kept: list[Fact]) -> None:
    """This version and another, the earlier one on the left."""
    other = client.workbench().page(other_id)
    old, new = sorted((page, other), key=lambda one: one.fetched_at)
    told = sources.compare_versions(old, new, kept)
    st.html(side_by_side.render_quote_outcomes(told))
    names = (
        f"{'This version' if one is page else 'The other'}: {labels.format_time(one.fetched_at)}"
        for one in (old, new)
    )
    st.html(side_by_side.render_comparison(told, *names))


def _draw_text(page: Page, kept: list[Fact], passage: Fact | None, chosen: str) -> None:
    """The text as it was read, in windows when it is long, with what was kept beside it."""
    marks = [passage] if passage else kept
    first = passage or next((fact for fact in kept if fact.id == chosen), None)
    if passage:
        quote = escape.html(passage.quote.strip())
        st.html(
            '<div class="ts"><h2 class="ts-section">The passage that was found</h2><div '
            f'class="quote paper">{quote}</div></div>'
        )
    elif first:
        st.html(
            '<div class="ts"><h2 class="ts-section">The quote</h2>'
            f"{page_text.render_quote_in_context(page.text, first, kept)}</div>"
        )
    if not page.text:
        empty_state.draw("No text is stored", page.detail or "Nothing could be read of this page.")
        return
    found = page_text.split_windows(page.text)
    left, right = st.columns([5, 2], gap="large") if kept and not passage else (st.container(), None)
    with left:
        st.html(
            '<div class="ts"><h2 class="ts-section">The text as it was '
            f"{'given' if PAGE_ORIGIN_LABELS[page.origin] else 'read'}</h2></div>"
        )
        number = 1
        if len(found) > 1:
            at = page_text.find_window(found, first.start if first else 0)
            number = st.pagination(len(found), default=at, key=f"page-part-{chosen or at}")
        start, end = found[number - 1]
        st.html(
            '<div class="ts paper">'
            f"{page_text.render_marked(page.text, marks, chosen=chosen, start=start, end=end)}</div>"
        )
    if right is not None:
        with right:
            told = page_text.render_kept_facts(kept, st.query_params.get("run", ""), chosen, found)
            st.html(f'<div class="ts"><h2 class="ts-section">Kept from this page</h2>{told}</div>')
