"""The facts as a table to edit in: statements, quotes and decisions in the cells, many rows marked at once,
one step for each saving.

The cells are drawn on a canvas from a frame that stays the same until it is saved or its page changes: what
is typed is not lost to a run that goes on meanwhile."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from agent.actions import fact_edits
from agent.actions.fact_edits import MAX_TEXT_CHARS, FactEdit
from agent.answering.fact_view import FactFilter
from agent.text.plurals import format_count
from agent.types import Action, Fact, PersonMark, Status
from agent.types.facts import number_step
from agent.workbench import RunSnapshot
from pages.widgets.evidence import fact_actions, fact_table
from pages.widgets.shell import client, escape, labels, ui

if TYPE_CHECKING:
    import pandas as pd

NO_DECISION = "–"
DECISIONS: dict[str, PersonMark] = {NO_DECISION: "none", "always used": "pinned", "excluded": "struck"}
COLUMNS = {
    "choose": "Choose",
    "statement": "Statement",
    "decision": "Decision",
    "status": "Status",
    "quote": "Quote",
    "site": "Site",
    "step": "Step",
}
MAX_QUOTES = 3
"""Chosen facts whose quotes are shown below the table."""
HELD_FRAME_KEY = "ledger-grid-held"
"""The session key of the frame that is being edited: (what it shows, ids)."""


def draw(view: RunSnapshot, fitting: Sequence[Fact], sift: FactFilter) -> None:
    """One page of the facts as a table, what is chosen in it, and the buttons for that."""
    run_id = view.run.id
    turned = f"ledger-page-{run_id}"
    wanted = fact_table.take_page(fitting, turned)
    shown = _choose_rows(view, wanted, sift)
    if not shown:
        st.caption("No fact fits: use other words, or take a filter away.")
        return
    st.caption(
        "Edit statements, quotes and decisions in their cells, then save: all of it is one "
        "step. Choose rows to mark many at once."
    )
    key = f"ledger-grid-{_digest(shown)}"
    st.data_editor(
        build_frame(shown, view.state.actions),
        key=key,
        hide_index=True,
        width="stretch",
        height=min(460, 38 + 36 * len(shown)),
        row_height=36,
        column_config=_configure_columns(),
        disabled=["status", "site", "step"],
        alt="Table of facts: choose, statement, decision, quote, status, site and step of each",
    )
    if [fact.id for fact in wanted] != [fact.id for fact in shown]:
        forget = (st.session_state.pop, HELD_FRAME_KEY, None)
        ui.button("Show what came since", "ledger-refresh", *forget, icon="refresh")
    fact_table.draw_pagination(fitting, turned)
    changed: Mapping[int, Mapping[str, Any]] = (st.session_state.get(key) or {}).get("edited_rows", {})
    drafts = collect_drafts(shown, changed)
    everything = len(fitting) > len(shown) and st.checkbox(
        f"All {len(fitting):,} that fit, on every page", key=f"ledger-all-{run_id}"
    )
    picked = [shown[int(n)] for n, cells in changed.items() if cells.get("choose")]
    chosen = list(fitting) if everything else picked
    _draw_buttons(view, drafts, chosen)
    _draw_quotes(chosen, run_id)


def build_frame(shown: Sequence[Fact], actions: Sequence[Action]) -> pd.DataFrame:
    """The facts as rows, each with the step of the journey that found it."""
    named = {decision: word for word, decision in DECISIONS.items()}
    where = [
        escape.host(fact.url) if fact.url else "you" if fact.is_own_knowledge else fact.origin
        for fact in shown
    ]
    numbers = [number_step(actions, fact.step) for fact in shown]
    rows = [
        (False, f.statement, named[f.decision], fact_table.describe_status(f), f.quote, place, number)
        for f, place, number in zip(shown, where, numbers, strict=True)
    ]
    import pandas as pd  # heavy: imported where it is used first

    return pd.DataFrame(rows, columns=list(COLUMNS))


def collect_drafts(shown: Sequence[Fact], changed: Mapping[Any, Mapping[str, Any]]) -> list[FactEdit]:
    """What was typed into the cells and differs from what stands there."""
    drafts = []
    for n, cells in changed.items():
        fact = shown[int(n)]
        statement, quote, decision = (
            cells.get("statement"),
            cells.get("quote"),
            DECISIONS.get(cells.get("decision") or ""),
        )
        draft = FactEdit(
            fact.id,
            statement=statement if statement is not None and statement != fact.statement else None,
            quote=quote if quote is not None and quote != fact.quote else None,
            decision=decision if decision != fact.decision else None,
        )
        if draft != FactEdit(fact.id):
            drafts.append(draft)
    return drafts


def _configure_columns() -> dict[str, Any]:
    column = st.column_config
    return {
        "choose": column.CheckboxColumn(COLUMNS["choose"], width=92),
        "statement": column.TextColumn(
            COLUMNS["statement"], width=300, max_chars=MAX_TEXT_CHARS, required=True
        ),
        "decision": column.SelectboxColumn(
            COLUMNS["decision"], options=list(DECISIONS), required=True, width=96
        ),
        "quote": column.TextColumn(
            COLUMNS["quote"],
            width=300,
            max_chars=MAX_TEXT_CHARS,
            required=True,
            help="Checked again against the stored page",
        ),
        "status": column.TextColumn(COLUMNS["status"], width=110),
        "site": column.TextColumn(COLUMNS["site"], width=150),
        "step": column.NumberColumn(COLUMNS["step"], width=56, format="%d"),
    }


def _choose_rows(view: RunSnapshot, wanted: Sequence[Fact], sift: FactFilter) -> Sequence[Fact]:
    """The facts of the frame: those that were there while a run works or an edit is not saved."""
    held: tuple[str, Sequence[Fact]] = st.session_state.get(HELD_FRAME_KEY) or ("", ())
    typed = (
        (st.session_state.get(f"ledger-grid-{_digest(held[1])}") or {}).get("edited_rows")
        if held[1]
        else None
    )
    place = (
        f"{view.run.id}|{sift}"
        f"|{st.session_state.get(f'ledger-page-{view.run.id}') or 1}|{len(view.state.edits)}"
    )
    if held[1] and held[0] == place and (typed or view.run.status is Status.RUNNING):
        return held[1]
    st.session_state[HELD_FRAME_KEY] = (place, wanted)
    return wanted


def _digest(shown: Sequence[Fact]) -> str:
    told = "\n".join(f"{f.id}{f.statement}{f.quote}{f.decision}{f.verified}{f.disputed}" for f in shown)
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def _draw_buttons(view: RunSnapshot, drafts: list[FactEdit], chosen: list[Fact]) -> None:
    ids, n = [fact.id for fact in chosen], format_count(len(chosen), "fact")
    with st.container(horizontal=True, vertical_alignment="center", key="ledger-grid-buttons"):
        if drafts:
            label = f"Save {format_count(len(drafts), 'changed fact')}"
            ui.button(label, "ledger-save", save, view, drafts, icon="save", type="primary")
        if not chosen:
            return
        pinned, struck = (
            sum(fact.decision == decision for fact in chosen) for decision in ("pinned", "struck")
        )
        for label, icon, decision, idle in (
            (f"Always use {n}", "keep", "pinned", pinned == len(chosen)),
            (f"Exclude {n}", "block", "struck", struck == len(chosen)),
            (f"Restore {n}", "restart_alt", "none", not pinned + struck),
        ):
            done = (
                f"{n} {labels.FACT_STATUS.get(decision, 'restored')}. "
                f"{fact_actions.describe_consequence(view)}"
            ).strip()
            given = {"facts": ids, "decision": decision}
            more: Any = {"icon": icon, "disabled": idle, "given": given, "done": done}
            ui.act(view, "mark", f"ledger-mark-{decision}", label, **more)


def save(view: RunSnapshot, drafts: Sequence[FactEdit]) -> None:
    """Save what was typed as one step; say at once where a quote does not carry the new words."""
    bench = client.workbench()

    def told(_: int) -> None:
        if bare := fact_edits.find_unsupported_facts(bench.snapshot(view.run.id), drafts):
            which = (
                f"{format_count(len(bare), 'corrected fact')} "
                f"{'says' if len(bare) == 1 else 'say'} more than the quote supports"
            )
            advice = "not backed by a page any more. Correct the quote, or choose “Always use”."
            client.set_notice(
                "warning", f"Saved. {which}: {advice} {fact_actions.describe_consequence(view)}"
            )
        else:
            client.set_notice("success", f"Saved. {fact_actions.describe_consequence(view)}".strip())

    client.act(view.run.id, "revise", edits=list(drafts), then=told)


def _draw_quotes(chosen: Sequence[Fact], run_id: str) -> None:
    if chosen:
        shown = "".join(
            (
                f"<p><b>{escape.html(fact.statement)}</b> {fact_table.render_status(fact)}</p>"
                f"{fact_table.render_evidence(fact, run_id)}"
            )
            for fact in chosen[:MAX_QUOTES]
        )
        more = (
            f'<p class="small soft">and {len(chosen) - MAX_QUOTES:,} more</p>'
            if len(chosen) > MAX_QUOTES
            else ""
        )
        st.html(f'<div class="ts">{shown}{more}</div>')
