"""The facts of a run as one table: sorted, searched and widened by its own tools, edited in its cells, many
marked at once; each saving is one step.

What is typed or ticked is a draft of its fact until it is saved or discarded, wherever a person looks
meanwhile. The cells are drawn on a canvas from a frame that stays the same while they are edited."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import streamlit as st

from agent.actions import acts, fact_edits, undo_edits
from agent.actions.fact_edits import MAX_TEXT_CHARS, FactEdit
from agent.answering import fact_view
from agent.answering.fact_view import FACT_STATUSES, filter_facts, find_part, main_fact_status
from agent.text.plurals import format_count
from agent.types import Fact, PersonMark, Status
from agent.workbench import RunSnapshot
from pages.widgets.shell import client, empty_state, escape, labels, ui, view_cache

if TYPE_CHECKING:
    import pandas as pd

MAX_ROWS = 500
"""Rows of the table: what more there is must be searched for."""
NO_DECISION = "–"
DECISIONS: dict[str, PersonMark] = {NO_DECISION: "none", "always used": "pinned", "excluded": "struck"}
COLUMNS = {
    "choose": "✓",
    "statement": "Statement",
    "site": "Source",
    "decision": "Use",
    "status": "Status",
    "quote": "Quote",
    "part": "Part",
}
MARKS: dict[PersonMark, tuple[str, str]] = {
    "pinned": ("Always use", "keep"),
    "struck": ("Exclude", "block"),
    "none": ("Restore", "restart_alt"),
}
"""By what a person may decide of a fact: the word and the icon of its button."""
Cells = Mapping[str, Mapping[str, Any]]
"""By fact and column what was typed or ticked."""
GRID_KEY = "facts-grid"
"""The session key of the Grid that was drawn last."""
TYPED = ("statement", "quote", "decision")
"""The columns that are saved; the first is ticked for what is done with many."""
ADD_POPOVER = "ledger-add"
FROM_PAGE, OWN_KNOWLEDGE = "From a page", "My own knowledge"


@dataclass(frozen=True)
class Grid:
    """A table as it was drawn: of these facts, with these drafts, under a key of its own."""

    key: str
    """Of its widget."""
    place: object
    facts: Sequence[Fact]
    cells: Cells


def draw(view: RunSnapshot) -> None:
    """The table with what may be done; read-only where its flow does not write from facts."""
    known = view_cache.get_or_compute(view, "facts-listed", lambda: fact_view.all_facts(view.state))
    is_editable = acts.is_possible("mark", view)
    if not known:
        text = "Each page that is read adds relevant statements, each with its exact quote."
        empty_state.draw("No facts so far", text)
        if is_editable:
            _draw_acts(view, [], [])
        return
    words = {"": "Any status"}
    words |= {name: labels.FACT_STATUS.get(name, name).capitalize() for name in FACT_STATUSES}
    with st.container(horizontal=True, vertical_alignment="bottom", key="facts-filter"):
        look: Any = {
            "label_visibility": "collapsed",
            "placeholder": "Find: words, a site …",
            "type": "search",
        }
        find = st.text_input("Find in the facts", key="research-facts-find", live="300ms", **look) or ""
        status_key = f"ledger-status-{view.run.id}"
        status = ui.select(
            "Status", {"": "Any status", **words}, status_key, label_visibility="collapsed", width=140
        )
        is_wide = st.toggle("Wide", key="facts-wide", help="The table alone, over the width of the window")
    answer = view.state.answer
    cited = {i for sentence in answer.sentences for i in sentence.fact_ids} if answer else set[str]()
    fitting = filter_facts(known, find, status)
    fitting.sort(key=lambda fact: fact.id not in cited)
    if is_editable:
        _draw_acts(view, known, fitting)
    if not fitting:
        empty_state.draw("No fact fits", "Use other words, or take a filter away.")
        return
    grid = _hold_grid(view, fitting[:MAX_ROWS], (find, status, is_wide, is_editable))
    _draw_table(view, grid, is_editable=is_editable, is_wide=is_wide)
    if len(fitting) > MAX_ROWS:
        st.caption(f"The first {MAX_ROWS} of {len(fitting):,}. Search to see others.")


def drafts_of(run_id: str) -> dict[str, dict[str, Any]]:
    """What was typed or ticked and not saved of a run: cells by fact and column."""
    return st.session_state.setdefault(f"facts-drafts-{run_id}", {})  # type: ignore[no-any-return]


def collect_edits(known: Iterable[Fact], drafts: Cells) -> list[FactEdit]:
    """The drafts that differ from what stands there."""
    edits = []
    for fact in known:
        cells = drafts.get(fact.id, {})
        typed = {**cells, "decision": DECISIONS.get(cells.get("decision") or "")}
        new = {column: typed.get(column) for column in TYPED}
        changed = {name: said for name, said in new.items() if said not in (None, getattr(fact, name))}
        edits += [FactEdit(fact.id, **changed)] if changed else []
    return edits


def take_up(drafts: dict[str, dict[str, Any]], grid: Grid, edited: Mapping[Any, Mapping[str, Any]]) -> None:
    """Keep what was changed in a table, by row, as drafts."""
    changed = {int(n): cells for n, cells in edited.items()}
    for n, fact in enumerate(grid.facts):
        drafts[fact.id] = {**grid.cells.get(fact.id, {}), **changed.get(n, {})}


def forget(run_id: str, ids: Iterable[str], *columns: str) -> None:
    """Forget these columns of the drafts of these facts; the table is drawn anew. Only in a callback."""
    drafts = drafts_of(run_id)
    for name in ids:
        drafts[name] = {
            column: said for column, said in drafts.get(name, {}).items() if column not in columns
        }
    st.session_state.pop(GRID_KEY, None)


def describe_consequence(view: RunSnapshot) -> str:
    """What an edit leads to just now, for the notice."""
    return "The answer is being written again." if view.run.status in (Status.REVIEW, Status.DONE) else ""


def build_frame(view: RunSnapshot, shown: Sequence[Fact], drafts: Cells) -> pd.DataFrame:
    """The facts as rows of COLUMNS, with what was typed or ticked."""
    named = {decision: word for word, decision in DECISIONS.items()}
    rows = [
        {
            "choose": False,
            "statement": fact.statement,
            "site": escape.host(fact.url) if fact.url else "you" if fact.is_own_knowledge else fact.origin,
            "decision": named[fact.decision],
            "status": labels.FACT_STATUS.get(main_fact_status(fact), main_fact_status(fact)),
            "quote": fact.quote,
            "part": find_part(view.state.plan, fact),
            **drafts.get(fact.id, {}),
        }
        for fact in shown
    ]
    import pandas as pd  # heavy: imported where it is used first

    return pd.DataFrame(rows, columns=list(COLUMNS))


def save(view: RunSnapshot, known: Iterable[Fact], popover: str = "") -> None:
    """Save the drafts of these facts as one step, and close the `popover` they were written in; say at once
    where a quote does not carry the new words."""
    edits = collect_edits(known, drafts_of(view.run.id))

    def told(_: int) -> None:
        forget(view.run.id, [edit.id for edit in edits], *TYPED)
        ui.close_popover(popover)
        after = describe_consequence(view)
        if bare := fact_edits.find_unsupported_facts(client.workbench().snapshot(view.run.id), edits):
            which = f"{format_count(len(bare), 'corrected fact')} {'says' if len(bare) == 1 else 'say'} more"
            advice = "than the quote supports: correct the quote, or choose “Always use”."
            client.set_notice("warning", f"Saved. {which} {advice} {after}")
        else:
            client.set_notice("success", f"Saved. {after}".strip())

    if edits:
        client.act(view.run.id, "revise", edits=edits, then=told)
    else:
        client.set_notice("info", "Nothing was changed.")


def _draw_table(view: RunSnapshot, grid: Grid, *, is_editable: bool, is_wide: bool) -> None:
    column = st.column_config
    text: Any = {"max_chars": MAX_TEXT_CHARS, "required": True}
    use: Any = {"options": list(DECISIONS), "required": True, "width": 100}
    checked = "Checked again against the stored page"
    width = 350 if is_wide else 230
    config = {
        "choose": column.CheckboxColumn(COLUMNS["choose"], width=50) if is_editable else None,
        "statement": column.TextColumn(COLUMNS["statement"], width=width, **text),
        "site": column.TextColumn(COLUMNS["site"], width=130),
        "decision": column.SelectboxColumn(COLUMNS["decision"], **use),
        "status": column.TextColumn(COLUMNS["status"], width=100),
        "quote": column.TextColumn(COLUMNS["quote"], width=width, help=checked, **text),
        "part": column.TextColumn(COLUMNS["part"], width=50),
    }
    st.data_editor(
        build_frame(view, grid.facts, grid.cells),
        key=grid.key,
        on_change=lambda: take_up(drafts_of(view.run.id), grid, st.session_state[grid.key]["edited_rows"]),
        hide_index=True,
        width="stretch",
        height=min(560, 38 + 36 * len(grid.facts)),
        row_height=36,
        column_config=config,
        disabled=["site", "status", "part"] if is_editable else True,
        alt=f"Table of facts: {', '.join(COLUMNS.values())} of each",
    )


def _hold_grid(view: RunSnapshot, wanted: Sequence[Fact], look: tuple[object, ...]) -> Grid:
    """The table that is being edited, as long as it is on the screen with the same facts, or the run works;
    else a new one, with the drafts."""
    held: Grid | None = st.session_state.get(GRID_KEY)
    place = (view.run.id, look, len(view.state.edits))
    if held and held.key in st.session_state and held.place == place:
        is_same = list(held.facts) == list(wanted)
        if not is_same and view.run.status is Status.RUNNING:
            forgets = (st.session_state.pop, GRID_KEY, None)
            ui.button("Show what came since", "ledger-refresh", *forgets, icon="refresh", type="tertiary")
        if is_same or view.run.status is Status.RUNNING:
            return held
    cells = {name: dict(cells) for name, cells in drafts_of(view.run.id).items()}
    n = st.session_state[f"{GRID_KEY}-count"] = st.session_state.get(f"{GRID_KEY}-count", 0) + 1
    grid = st.session_state[GRID_KEY] = Grid(f"{GRID_KEY}-{n}", place, wanted, cells)
    return grid


def _draw_acts(view: RunSnapshot, known: Sequence[Fact], fitting: Sequence[Fact]) -> None:
    """What may be done, in one row above the table, which never moves: with what was typed, with the facts
    that are ticked, else with the facts as they are."""
    drafts = drafts_of(view.run.id)
    edits = collect_edits(known, drafts)
    ticked = [fact for fact in known if drafts.get(fact.id, {}).get("choose")]
    with st.container(horizontal=True, vertical_alignment="center", key="ledger-acts"):
        if edits:
            st.html(f'<b class="ts small">{format_count(len(edits), "unsaved change")}</b>', width="content")
            ui.button("Save", "ledger-save", save, view, known, icon="save", type="primary")
            given = (view.run.id, [edit.id for edit in edits], *TYPED)
            ui.button("Discard", "ledger-discard", forget, *given, icon="undo", type="tertiary")
        if ticked:
            _draw_marks(view, ticked, fitting)
        elif not edits:
            _draw_changes(view)


def _draw_marks(view: RunSnapshot, ticked: list[Fact], fitting: Sequence[Fact]) -> None:
    """What may be done with the facts that are ticked, and the ways to tick all that fit, or none."""
    ids, n = [fact.id for fact in ticked], format_count(len(ticked), "fact")
    untick = functools.partial(forget, view.run.id, ids, "choose")

    def tick_all() -> None:
        for fact in fitting:
            drafts_of(view.run.id).setdefault(fact.id, {})["choose"] = True
        st.session_state.pop(GRID_KEY, None)

    for decision, (label, icon) in MARKS.items():
        told = labels.FACT_STATUS.get(decision, "restored")
        more: Any = {
            "icon": icon,
            "given": {"facts": ids, "decision": decision, "then": lambda _: untick()},
            "done": f"{n} {told}. {describe_consequence(view)}".strip(),
            "type": "tertiary",
        }
        if any(fact.decision != decision for fact in ticked):
            ui.act(view, "mark", f"ledger-mark-{decision}", f"{label} {n}", **more)
    if not {fact.id for fact in fitting} <= set(ids):
        ui.button(f"Tick all {len(fitting):,}", "ledger-all", tick_all, type="tertiary")
    ui.button("Untick", "ledger-none", untick, type="tertiary")


def _draw_changes(view: RunSnapshot) -> None:
    """Add a fact; undo and redo an edit by its name."""
    adding = ui.popover("Add a fact", ADD_POPOVER, "add_notes", type="tertiary")
    if adding.open:
        with adding:
            _draw_add_form(view)
    if edit := undo_edits.find_undoable(view):
        more: Any = {"icon": "undo", "given": {"step": edit.step}, "type": "tertiary"}
        ui.act(view, "undo", "ledger-undo", escape.md(f"Undo: {edit.text}", 60), **more)
    if edit := undo_edits.find_redoable(view):
        more = {"icon": "redo", "given": {"step": edit.step}, "type": "tertiary"}
        ui.act(view, "redo", "ledger-redo", escape.md(f"Redo: {edit.text}", 60), **more)


def _draw_add_form(view: RunSnapshot) -> None:
    name = f"ledger-new-{view.run.id}"
    st.text_area("The fact, in a sentence", key=f"{name}-statement", height=80)
    kind = st.radio("Where is it from?", [FROM_PAGE, OWN_KNOWLEDGE], key=f"{name}-kind", horizontal=True)
    if kind == FROM_PAGE:
        st.text_input("Address of the page", key=f"{name}-url", placeholder="https://…")
        hint = "Checked against the stored page."
        st.text_area("Exact quote", key=f"{name}-quote", height=80, help=hint)
    else:
        st.caption(
            "It may be used in the answer, marked as your own knowledge. It never counts as backed by a page."
        )
    ui.button("Add it", "ledger-new-add", _add_fact, view, name, type="primary")


def _add_fact(view: RunSnapshot, name: str) -> None:
    at = st.session_state
    is_own = at.get(f"{name}-kind") == OWN_KNOWLEDGE
    typed = {part: at.get(f"{name}-{part}") or "" for part in ("statement", "url", "quote")}
    given = {**typed, "url": "", "quote": ""} if is_own else typed

    def clear(_: int) -> None:
        for part in typed:
            at.pop(f"{name}-{part}", None)
        ui.close_popover(ADD_POPOVER)

    if is_own or (given["url"].strip() and given["quote"].strip()):
        done = f"Added. {describe_consequence(view)}".strip()
        client.act(view.run.id, "add", done=done, then=clear, **given)
    else:
        what = "Name the page's address and the words as they stand there, or say that you know it yourself."
        client.set_notice("warning", what)
