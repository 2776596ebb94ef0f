"""A stored page with the words that matter marked: quotes kept from it, or a passage that was found in the library.

`?id=` names the page; `?run=` and `?fact=` a run and a quote it kept; `?from=` and `?to=` a passage, `?find=` what was looked for.
"""

from __future__ import annotations

import streamlit as st

from agent.errors import NotFound
from agent.types import Fact, Page
from agent.urls import host
from pages.widgets import door, empty, safe, screens, stored

bench, asked = door.workbench(), st.query_params
run_id, page_id, fact_id = asked.get("run", ""), asked.get("id", ""), asked.get("fact", "")
page: Page | None = None
kept: list[Fact] = []
screen = screens.FRONT
try:
    page = bench.page(page_id)
    if run_id:
        view = bench.view(run_id)
        screen = screens.of(view.run.settings.flow)
        kept = [fact for fact in view.state.facts.values() if fact.page_id == page_id]
except NotFound:
    page = None

if run_id:
    st.page_link(screen, label="Back to the run", query_params={"run": run_id}, icon=":material/arrow_back:")
else:
    back = {"view": "search", "q": asked["find"]} if asked.get("find") else {}
    st.page_link("pages/library.py", label="Back to the library", query_params=back, icon=":material/arrow_back:")
if page and host(page.final_url or page.url).endswith(".example"):
    st.html('<div class="ts band" role="note"><b>The demo world (invented pages).</b> Nothing here is about the real world.</div>')
if page is None:
    empty.draw(
        "No stored page is called this", "Open a page from the library, or from a run: its map of pages, its facts, the sources of its answer."
    )
else:
    passage = stored.passage(page.text, asked.get("from", ""), asked.get("to", ""))
    marks = [passage] if passage else kept
    st.html(f'<div class="ts"><h1 class="ts-question">{safe.html(page.title or safe.host(page.url))}</h1></div>')
    st.html(f'<div class="ts">{stored.about(page)}</div>')
    if passage:
        found = safe.html(passage.quote.strip())
        st.html(f'<div class="ts"><h2 class="ts-section">The passage that was found</h2><div class="quote paper">{found}</div></div>')
    elif kept:
        st.html(f'<div class="ts"><h2 class="ts-section">Kept from this page</h2>{stored.kept(page.text, kept, fact_id)}</div>')
    st.html('<div class="ts"><h2 class="ts-section">The text as it was read</h2></div>')
    if page.text:
        st.html(f'<div class="ts paper">{stored.marked(page.text, marks, chosen=fact_id)}</div>')
    else:
        empty.draw("No text is stored", page.detail or "Nothing could be read of this page.")
