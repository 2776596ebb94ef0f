"""A stored page of a run, with the quotes that were kept from it marked. `?run=` and `?id=` name it, `?fact=` one quote."""

from __future__ import annotations

import streamlit as st

from agent.errors import NotFound
from agent.types import Fact, Page
from pages.widgets import door, empty, safe, screens, stored

bench, asked = door.workbench(), st.query_params
run_id, page_id, fact_id = asked.get("run", ""), asked.get("id", ""), asked.get("fact", "")
page: Page | None = None
demo = False
kept: list[Fact] = []
screen = screens.FRONT
try:
    page = bench.page(page_id)
    if run_id:
        view = bench.view(run_id)
        screen = screens.of(view.run.settings.flow)
        demo = view.run.settings.world == "demo"
        kept = [fact for fact in view.state.facts.values() if fact.page_id == page_id]
except NotFound:
    page = None

if run_id:
    st.page_link(screen, label="Back to the run", query_params={"run": run_id}, icon=":material/arrow_back:")
if demo:
    st.html('<div class="ts band" role="note"><b>The demo world (invented pages).</b> Nothing here is about the real world.</div>')
if page is None:
    empty.draw("No stored page is called this", "Open a page from a run: in its map of pages, its facts, or the sources of its answer.")
else:
    st.html(f'<div class="ts"><h1 class="ts-question">{safe.html(page.title or safe.host(page.url))}</h1></div>')
    st.html(f'<div class="ts">{stored.about(page)}</div>')
    if kept:
        st.html(f'<div class="ts"><h2 class="ts-section">Kept from this page</h2>{stored.kept(page.text, kept, fact_id)}</div>')
    st.html('<div class="ts"><h2 class="ts-section">The text as it was read</h2></div>')
    if page.text:
        st.html(f'<div class="ts paper">{stored.marked(page.text, kept, chosen=fact_id)}</div>')
    else:
        empty.draw("No text is stored", page.detail or "Nothing could be read of this page.")
