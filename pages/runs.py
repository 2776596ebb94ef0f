"""All runs: find, open, put into the bin, take out again."""

from __future__ import annotations

import streamlit as st

from pages.widgets import bundles, empty, listing

st.html('<div class="ts"><h1 class="ts-question">Runs</h1></div>')
listing.filters()
bundles.draw()
found = listing.found()
if found:
    listing.draw(found)
elif listing.filtered():
    empty.draw("No run fits", "Change the words or the state above.")
else:
    empty.draw("No runs yet", "Ask a question on the Research page; everything you start is kept here.")
    st.page_link("pages/research.py", label="Ask a question", icon=":material/travel_explore:")
