"""The facts as a table to edit in: statements, quotes and decisions in the cells, many rows marked at once, one step for each saving.

The cells are drawn on a canvas from a frame that stays the same until it is saved or its page changes: what is typed is not lost to a
run that goes on meanwhile.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from agent import editing
from agent.flows.edits import LONGEST, Draft
from agent.flows.sifting import Sift, mark
from agent.types import Fact, Mark, Status
from agent.wording import counted
from agent.workbench import View
from pages.widgets import door, facts, ledger_doors, safe

NONE = "–"
DECISIONS: dict[str, Mark] = {NONE: "none", "pinned": "pinned", "struck": "struck"}
COLUMNS = {"choose": "Choose", "statement": "Statement", "decision": "Decision", "status": "Status", "quote": "Quote", "site": "Site", "step": "Step"}
BEHIND = 3
"""Chosen facts whose quotes are shown below the table."""
HELD = "ledger-grid-held"
"""The session key of the frame that is being edited: (what it shows, ids)."""


def draw(view: View, fitting: Sequence[Fact], sift: Sift) -> None:
    """One page of the facts as a table, what is chosen in it, and the buttons for that."""
    run_id = view.run.id
    turned = f"ledger-page-{run_id}"
    wanted = facts.paged(fitting, turned)
    shown = _held(view, wanted, sift)
    if not shown:
        st.caption("No fact fits: use other words, or take a filter away.")
        return
    st.caption("Edit statements, quotes and decisions in their cells, then save: all of it is one step. Choose rows to mark many at once.")
    key = f"ledger-grid-{_digest(shown)}"
    st.data_editor(
        frame(shown), key=key, hide_index=True, width="stretch", height=min(460, 38 + 36 * len(shown)), row_height=36, column_config=_columns(),
        disabled=["status", "site", "step"], alt="Table of facts: choose, statement, decision, quote, status, site and step of each",
    )  # fmt: skip
    if [fact.id for fact in wanted] != [fact.id for fact in shown]:
        st.button("Show what came since", icon=":material/refresh:", key="ledger-refresh", on_click=st.session_state.pop, args=(HELD, None))
    facts.turn_pages(fitting, turned)
    changed: Mapping[int, Mapping[str, Any]] = (st.session_state.get(key) or {}).get("edited_rows", {})
    drafts = drafted(shown, changed)
    everything = len(fitting) > len(shown) and st.checkbox(f"All {len(fitting):,} that fit, on every page", key=f"ledger-all-{run_id}")
    chosen = list(fitting) if everything else [shown[int(n)] for n, cells in changed.items() if cells.get("choose")]
    _buttons(view, drafts, chosen)
    _quotes(chosen, run_id)


def frame(shown: Sequence[Fact]) -> pd.DataFrame:
    """The facts as rows."""
    named = {decision: word for word, decision in DECISIONS.items()}
    where = [safe.host(fact.url) if fact.url else "you" if fact.own else fact.origin for fact in shown]
    rows = [(False, f.statement, named[f.decision], mark(f), f.quote, place, f.step) for f, place in zip(shown, where, strict=True)]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def drafted(shown: Sequence[Fact], changed: Mapping[Any, Mapping[str, Any]]) -> list[Draft]:
    """What was typed into the cells and differs from what stands there."""
    drafts = []
    for n, cells in changed.items():
        fact = shown[int(n)]
        statement, quote, decision = cells.get("statement"), cells.get("quote"), DECISIONS.get(cells.get("decision") or "")
        draft = Draft(
            fact.id,
            statement=statement if statement is not None and statement != fact.statement else None,
            quote=quote if quote is not None and quote != fact.quote else None,
            decision=decision if decision != fact.decision else None,
        )
        if draft != Draft(fact.id):
            drafts.append(draft)
    return drafts


def _columns() -> dict[str, Any]:
    column = st.column_config
    return {
        "choose": column.CheckboxColumn(COLUMNS["choose"], width=92),
        "statement": column.TextColumn(COLUMNS["statement"], width=300, max_chars=LONGEST, required=True),
        "decision": column.SelectboxColumn(COLUMNS["decision"], options=list(DECISIONS), required=True, width=96),
        "quote": column.TextColumn(COLUMNS["quote"], width=300, max_chars=LONGEST, required=True, help="Looked up anew in the stored page"),
        "status": column.TextColumn(COLUMNS["status"], width=110),
        "site": column.TextColumn(COLUMNS["site"], width=150),
        "step": column.NumberColumn(COLUMNS["step"], width=56, format="%d"),
    }


def _held(view: View, wanted: Sequence[Fact], sift: Sift) -> Sequence[Fact]:
    """The facts of the frame: while a run works, and once somebody has typed, those that were there, as they were, until that is saved."""
    held: tuple[str, Sequence[Fact]] = st.session_state.get(HELD) or ("", ())
    typed = (st.session_state.get(f"ledger-grid-{_digest(held[1])}") or {}).get("edited_rows") if held[1] else None
    place = f"{view.run.id}|{sift}|{st.session_state.get(f'ledger-page-{view.run.id}') or 1}|{len(view.state.edits)}"
    if held[1] and held[0] == place and (typed or view.run.status is Status.RUNNING):
        return held[1]
    st.session_state[HELD] = (place, wanted)
    return wanted


def _digest(shown: Sequence[Fact]) -> str:
    told = "\n".join(f"{f.id}{f.statement}{f.quote}{f.decision}{f.verified}{f.disputed}" for f in shown)
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def _buttons(view: View, drafts: list[Draft], chosen: list[Fact]) -> None:
    ids, n = [fact.id for fact in chosen], counted(len(chosen), "fact")
    with st.container(horizontal=True, vertical_alignment="center", key="ledger-grid-buttons"):
        if drafts:
            label = f"Save {counted(len(drafts), 'changed fact')}"
            st.button(label, type="primary", icon=":material/save:", key="ledger-save", on_click=save, args=(view, drafts))
        if not chosen:
            return
        pinned, struck = (sum(fact.decision == decision for fact in chosen) for decision in ("pinned", "struck"))
        for label, icon, decision, idle in (
            (f"Pin {n}", "keep", "pinned", pinned == len(chosen)), (f"Strike {n}", "block", "struck", struck == len(chosen)),
            (f"Restore {n}", "restart_alt", "none", not pinned + struck),
        ):  # fmt: skip
            done = f"{n} {'restored' if decision == 'none' else decision}. {ledger_doors.follows(view)}".strip()
            st.button(
                label, icon=f":material/{icon}:", key=f"ledger-mark-{decision}", disabled=idle, on_click=door.tell,
                args=(editing.mark, door.workbench(), view.run.id, ids, decision), kwargs={"done": done},
            )  # fmt: skip


def save(view: View, drafts: Sequence[Draft]) -> None:
    """Save what was typed as one step; say at once where a quote does not carry the new words."""
    bench = door.workbench()

    def told(_: int) -> None:
        if bare := editing.uncarried(bench.view(view.run.id), drafts):
            which = f"{counted(len(bare), 'corrected fact')} {'says' if len(bare) == 1 else 'say'} what the quote does not carry"
            advice = "not backed by a page any more. Correct the quote, or pin it as your word."
            door.notice("warning", f"Saved. {which}: {advice} {ledger_doors.follows(view)}")
        else:
            door.notice("success", f"Saved. {ledger_doors.follows(view)}".strip())

    door.tell(editing.revise, bench, view.run.id, list(drafts), then=told)


def _quotes(chosen: Sequence[Fact], run_id: str) -> None:
    if chosen:
        shown = "".join(f"<p><b>{safe.html(fact.statement)}</b> {facts.chip(fact)}</p>{facts.behind(fact, run_id)}" for fact in chosen[:BEHIND])
        more = f'<p class="small soft">and {len(chosen) - BEHIND:,} more</p>' if len(chosen) > BEHIND else ""
        st.html(f'<div class="ts">{shown}{more}</div>')
