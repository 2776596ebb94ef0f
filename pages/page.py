"""A stored page with the words that matter marked: quotes kept from it, or a passage that was found in the
library.

`?id=` names the page; `?run=` and `?fact=` a run and a quote it kept; `?with=` another version of it, to
compare; `?from=` and `?to=` a passage, `?find=` what was looked for."""

from __future__ import annotations

import streamlit as st

from agent.actions import sources
from agent.errors import NotFound
from agent.types import PAGE_ORIGIN_LABELS, Fact, Page
from agent.types.facts import number_step
from agent.workbench import RunSnapshot
from pages.widgets.evidence import page_text, page_versions
from pages.widgets.shell import badges, client, empty_state, escape, labels, routes, ui

FOLDED_CHARS = 400
"""Characters before a quote from which on they are folded, so that it stands at the top."""


def draw() -> None:
    """The page that the address names, or what to do when there is none."""
    bench, asked = client.workbench(), st.query_params
    try:
        page = bench.page(asked.get("id", ""))
        view = bench.snapshot(asked["run"]) if asked.get("run") else None
    except NotFound:
        page, view = None, None
    _draw_back_link(view)
    if page is None:
        more = (
            "Open a page from the library, or from a run: its sources, its facts, the quotes of its answer."
        )
        empty_state.draw("No stored page is called this", more)
        return
    page_id = asked["id"]
    kept = [fact for fact in view.state.facts.values() if fact.page_id == page_id] if view else []
    passage = page_text.parse_passage(page.text, asked.get("from", ""), asked.get("to", ""))
    chosen = passage or next((fact for fact in kept if fact.id == asked.get("fact")), None)
    st.html(f'<div class="ts">{_render_head(page)}</div>')
    left, right = st.columns([5, 2], gap="large")
    with left:
        _draw_text(page, [passage] if passage else kept, chosen)
    with right:
        if kept:
            told = page_text.render_kept_facts(kept, asked.get("run", ""), chosen.id if chosen else "")
            ui.heading("Kept from this page", told)
        with st.expander("About this page", icon=":material/info:", key="page-about"):
            ref = (
                next((ref for ref in view.state.pages.values() if ref.page_id == page_id), None)
                if view
                else None
            )
            step = number_step(view.state.actions, ref.step) if view and ref else 0
            st.html(f'<div class="ts small">{page_text.render_metadata(page, ref, step)}</div>')
            _draw_download(page, page_id)
    found = sources.list_versions(bench, page)
    if len(found) > 1:
        told = page_versions.render_versions(found, page_id, asked.get("run", ""), asked.get("with", ""))
        ui.heading("Versions of this page", told)
        if asked.get("with") in {version.page_id for version in found} - {page_id}:
            st.html(page_versions.render_comparison(page, bench.page(asked["with"]), kept))


def _render_head(page: Page) -> str:
    """The title, the site, the date, and that the page is invented or given by a person."""
    address = page.final_url or page.url
    when = f"published {page.published_at[:10]}" if page.published_at else ""
    when = when or f"read {labels.format_time(page.fetched_at)}"
    told = f"{escape.render_link(address, escape.host(address))} · {escape.html(when)}"
    given = PAGE_ORIGIN_LABELS[page.origin]
    marks = [("demo world (invented pages)", "warn")] if escape.host(address).endswith(".example") else []
    marks += [(f"{given}: not fetched from its address", "warn")] if given else []
    title = escape.html(page.title or escape.host(page.url))
    line = f'<p class="small soft">{told} {badges.render_row(marks)}</p>'
    return f'<h1 class="ts-question">{title}</h1>{line}'


def _draw_back_link(view: RunSnapshot | None) -> None:
    asked = st.query_params
    if asked.get("run"):
        screen = routes.page_for_flow(view.run.settings.flow) if view else routes.FRONT_PAGE
        way = {name: asked[name] for name in ("run", "see") if name in asked}
        ui.link(screen, "Back to the run", "arrow_back", way)
    else:
        back = {"view": "search", "q": asked["find"]} if asked.get("find") else {}
        ui.link("pages/library.py", "Back to the library", "arrow_back", back)


def _draw_download(page: Page, page_id: str) -> None:
    """The body as it came, to take along; it is never shown or run here."""
    store = client.workbench().store.pages
    plain, packed = store.body_sizes(page_id)
    if plain:
        name, kind = page_text.choose_file_name(page)
        make = lambda: store.get(page_id, raw=True).raw  # noqa: E731
        hint = "The body that the server sent, as a plain file: nothing of it is run here"
        ui.download("Download original", "page-raw", make, name, kind, icon=":material/download:", help=hint)
        st.caption(f"{plain:,} bytes as it came; kept compressed in {packed:,}")


def _draw_text(page: Page, marks: list[Fact], chosen: Fact | None) -> None:
    """The text as it was read, from the quote on, in windows when it is long."""
    if not page.text:
        empty_state.draw("No text is stored", page.detail or "Nothing could be read of this page.")
        return
    if chosen and chosen.start < 0:
        st.html(f'<div class="ts quote">{escape.html(chosen.quote)}</div>')
        st.caption("This quote was not found in the stored text.")
    at, size = chosen.start if chosen else -1, page_text.WINDOW_CHARS
    start = max(at, 0) // size * size
    if len(page.text) > size:
        parts = -(-len(page.text) // size)
        start = size * (st.pagination(parts, default=start // size + 1, key=f"page-part-{at}") - 1)
    first, end = start, min(len(page.text), start + size + FOLDED_CHARS)  # no quote is cut in two
    if at - FOLDED_CHARS > start and at < end:
        first = max(page.text.rfind("\n", start, at - page_text.CONTEXT_CHARS // 2), start)
    name = chosen.id if chosen else ""
    before, shown = (
        page_text.render_marked(page.text, marks, chosen=name, start=a, end=b)
        for a, b in ((start, first), (first, end))
    )
    fold = f'<summary class="small soft">{first - start:,} characters before</summary>'
    folded = f'<details>{fold}<div class="paper">{before}</div></details>' if before.strip() else ""
    st.html(f'<div class="ts">{folded}<div class="paper">{shown.lstrip()}</div></div>')


draw()
