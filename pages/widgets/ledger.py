"""The editable ledger: the facts of a run with filters, to be read row by row or edited in the table, and every edit's undo."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from agent import editing
from agent.flows import moves
from agent.flows.sifting import STATUSES, Sift, sifted
from agent.types import Answer, Fact
from agent.urls import site
from agent.wording import counted
from agent.workbench import View
from pages.widgets import empty, facts, ledger_doors, ledger_grid, memo

READ, EDIT = "Read", "Edit in the table"
FILTERED = 8
"""Facts from which on the filters are drawn."""


def draw(view: View) -> None:
    """The facts of a run and what may be done with them; read-only where its flow does not write from facts."""
    known = memo.of(view, "facts-listed", lambda: moves.listed(view.state))
    if not editing.editable(view):
        facts.draw(known, view.run.id)
        return
    ledger_doors.draw(view)
    if not known:
        empty.draw("No facts so far", "Each page that is read adds the statements that bear on the question, with the words they stand on.")
        return
    key = f"ledger-way-{view.run.id}"
    way = st.segmented_control("How to show the facts", [READ, EDIT], default=READ, required=True, key=key, label_visibility="collapsed")
    sift = _sift(view, known) if way == EDIT or len(known) > FILTERED else Sift()  # above a table that is edited nothing may come in later
    everything = memo.of(view, "facts", lambda: cited_first(sifted(known, Sift()), view.state.answer))
    fitting = everything if sift == Sift() else cited_first(sifted(known, sift), view.state.answer)
    if way == EDIT:
        ledger_grid.draw(view, fitting, sift)
    else:
        facts.read(fitting, view.run.id, editable=True)


def cited_first(found: list[Fact], answer: Answer | None) -> list[Fact]:
    """The facts that the answer cites before the others; as they stand otherwise."""
    cited = {i for sentence in answer.sentences for i in sentence.fact_ids} if answer else set()
    return sorted(found, key=lambda fact: fact.id not in cited)


def _sift(view: View, known: Sequence[Fact]) -> Sift:
    """The filters, in one row."""
    run_id = view.run.id
    sites = memo.of(view, "sites", lambda: sorted({site(fact.url) for fact in known if fact.url}))
    steps = memo.of(view, "fact-steps", lambda: sorted({fact.step for fact in known}, reverse=True))
    find = st.text_input("Find in the facts", key=facts.FIND, type="search", live="300ms", placeholder="words, a site …")
    left, middle, right = st.columns(3)
    source = left.selectbox("Source", ["", *sites], format_func=lambda name: name or "All sources", key=f"ledger-source-{run_id}")
    step = middle.selectbox("Step", [-1, *steps], format_func=lambda n: "All steps" if n < 0 else f"Step {n}", key=f"ledger-step-{run_id}")
    status = right.selectbox("Status", ["", *STATUSES], format_func=lambda name: name.capitalize() or "Any status", key=f"ledger-status-{run_id}")
    sift = Sift(find or "", source or "", -1 if step is None else step, status or "")
    if sift != Sift():
        st.caption(f"{counted(len(sifted(known, sift)), 'fact')} of {len(known):,} fit")
    return sift
