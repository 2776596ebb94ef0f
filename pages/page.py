"""A stored page of a run, with the quotes that were kept from it marked. `?run=` and `?id=` name it, `?fact=` one quote."""

from __future__ import annotations

import streamlit as st

from agent.errors import NotFound
from pages.widgets import door, empty, safe, stored

bench, asked = door.workbench(), st.query_params
run_id, page_id, fact_id = asked.get("run", ""), asked.get("id", ""), asked.get("fact", "")
try:
    page = bench.page(page_id)
    kept = [fact for fact in bench.view(run_id).state.facts.values() if fact.page_id == page_id] if run_id else []
except NotFound:
    page, kept = None, []

if run_id:
    st.page_link("pages/research.py", label="Back to the run", query_params={"run": run_id}, icon=":material/arrow_back:")
if page is None:
    empty.draw("No stored page is called this", "Open a page from a run: in its map of pages, its facts, or the sources of its answer.")
else:
    kept.sort(key=lambda fact: (fact.id != fact_id, fact.start))
    st.html(f'<div class="ts"><h1 class="ts-question">{safe.html(page.title or safe.host(page.url))}</h1></div>')
    st.html(f'<div class="ts">{stored.about(page)}</div>')
    if kept:
        quotes = "<br>".join(stored.in_context(page.text, fact, kept) for fact in kept)
        st.html(f'<div class="ts"><h2 class="ts-section">Kept from this page</h2>{quotes}</div>')
    st.html('<div class="ts"><h2 class="ts-section">The text as it was read</h2></div>')
    if page.text:
        st.html(f'<div class="ts paper">{stored.marked(page.text, kept, chosen=fact_id)}</div>')
    else:
        empty.draw("No text is stored", page.detail or "Nothing could be read of this page.")
