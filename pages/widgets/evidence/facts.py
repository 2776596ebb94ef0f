"""The facts of a run as one table: sorted, searched and widened by its own tools, edited in its cells, many
marked at once; each saving is one step.

The cells are drawn on a canvas from a frame that stays the same until it is saved or its page changes: what
is typed is not lost to a run that goes on meanwhile."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from agent.actions import acts, fact_edits, undo_edits
from agent.actions.fact_edits import MAX_TEXT_CHARS, FactEdit
from agent.answering import fact_view
from agent.answering.fact_view import FACT_STATUSES, FactFilter, filter_facts, find_part, main_fact_status
from agent.errors import UsageError
from agent.text.plurals import format_count
from agent.types import Answer, Fact, PersonMark, Status
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
HELD_FRAME_KEY = "ledger-grid-held"
"""The session key of the frame that is being edited: (what it shows, its facts)."""
WIDE_KEY = "facts-wide"
WIDE_STYLE = """<style>@media (min-width: 1100px) {
[data-testid="stColumn"]:has(> * > .st-key-pane-answer, > * > * > .st-key-pane-answer) { display: none }
}</style>"""
ADD_POPOVER = "ledger-add"
FROM_PAGE, OWN_KNOWLEDGE = "From a page", "My own knowledge"


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
    words = {"": "Any status"} | {
        name: labels.FACT_STATUS.get(name, name).capitalize() for name in FACT_STATUSES
    }
    with st.container(horizontal=True, vertical_alignment="bottom", key="facts-filter"):
        look: Any = {
            "label_visibility": "collapsed",
            "placeholder": "Find: words, a site …",
            "type": "search",
        }
        find = st.text_input("Find in the facts", key="research-facts-find", live="300ms", **look) or ""
        status_key = f"ledger-status-{view.run.id}"
        status = ui.select("Status", words, status_key, label_visibility="collapsed", width=140)
        if st.toggle("Wide", key=WIDE_KEY, help="The table alone, over the width of the window"):
            st.html(WIDE_STYLE)
    sift = FactFilter(find, status=status)
    fitting = sort_cited_first(filter_facts(known, sift), view.state.answer)
    shown = _hold_rows(view, fitting[:MAX_ROWS], sift)
    if is_editable:
        changed = _read_changes(shown)
        picked = [shown[int(n)] for n, cells in changed.items() if cells.get("choose")]
        _draw_acts(view, collect_drafts(shown, changed), picked, fitting)
    if not shown:
        empty_state.draw("No fact fits", "Use other words, or take a filter away.")
        return
    _draw_table(view, shown, is_editable=is_editable)
    if len(fitting) > MAX_ROWS:
        st.caption(f"The first {MAX_ROWS} of {len(fitting):,}. Search to see others.")


def sort_cited_first(found: list[Fact], answer: Answer | None) -> list[Fact]:
    """The facts that the answer cites before the others; as they stand otherwise."""
    cited = {i for sentence in answer.sentences for i in sentence.fact_ids} if answer else set()
    return sorted(found, key=lambda fact: fact.id not in cited)


def describe_consequence(view: RunSnapshot) -> str:
    """What an edit leads to just now, for the notice."""
    return "The answer is updated." if view.run.status in (Status.REVIEW, Status.DONE) else ""


def describe_status(fact: Fact) -> str:
    """The status of a fact in a word or two."""
    status = main_fact_status(fact)
    return labels.FACT_STATUS.get(status, status)


def build_frame(view: RunSnapshot, shown: Sequence[Fact]) -> pd.DataFrame:
    """The facts as rows of COLUMNS."""
    named = {decision: word for word, decision in DECISIONS.items()}
    rows = [
        (
            False,
            fact.statement,
            escape.host(fact.url) if fact.url else "you" if fact.is_own_knowledge else fact.origin,
            named[fact.decision],
            describe_status(fact),
            fact.quote,
            find_part(view.state.plan, fact),
        )
        for fact in shown
    ]
    import pandas as pd  # heavy: imported where it is used first

    return pd.DataFrame(rows, columns=list(COLUMNS))


def collect_drafts(shown: Sequence[Fact], changed: Mapping[Any, Mapping[str, Any]]) -> list[FactEdit]:
    """What was typed into the cells and differs from what stands there."""
    drafts = []
    for n, cells in changed.items():
        fact = shown[int(n)]
        statement, quote = cells.get("statement"), cells.get("quote")
        decision = DECISIONS.get(cells.get("decision") or "")
        draft = FactEdit(
            fact.id,
            statement=statement if statement is not None and statement != fact.statement else None,
            quote=quote if quote is not None and quote != fact.quote else None,
            decision=decision if decision != fact.decision else None,
        )
        if draft != FactEdit(fact.id):
            drafts.append(draft)
    return drafts


def save(view: RunSnapshot, drafts: Sequence[FactEdit]) -> None:
    """Save what was typed as one step; say at once where a quote does not carry the new words."""

    def told(_: int) -> None:
        after = describe_consequence(view)
        if bare := fact_edits.find_unsupported_facts(client.workbench().snapshot(view.run.id), drafts):
            which = f"{format_count(len(bare), 'corrected fact')} {'says' if len(bare) == 1 else 'say'} more"
            advice = "than the quote supports: correct the quote, or choose “Always use”."
            client.set_notice("warning", f"Saved. {which} {advice} {after}")
        else:
            client.set_notice("success", f"Saved. {after}".strip())

    client.act(view.run.id, "revise", edits=list(drafts), then=told)


def _draw_table(view: RunSnapshot, shown: Sequence[Fact], *, is_editable: bool) -> None:
    column = st.column_config
    text: Any = {"max_chars": MAX_TEXT_CHARS, "required": True}
    use: Any = {"options": list(DECISIONS), "required": True, "width": 100}
    checked = "Checked again against the stored page"
    wide = 350 if st.session_state.get(WIDE_KEY) else 230
    config = {
        "choose": column.CheckboxColumn(COLUMNS["choose"], width=50) if is_editable else None,
        "statement": column.TextColumn(COLUMNS["statement"], width=wide, **text),
        "site": column.TextColumn(COLUMNS["site"], width=130),
        "decision": column.SelectboxColumn(COLUMNS["decision"], **use),
        "status": column.TextColumn(COLUMNS["status"], width=100),
        "quote": column.TextColumn(COLUMNS["quote"], width=wide, help=checked, **text),
        "part": column.TextColumn(COLUMNS["part"], width=50),
    }
    st.data_editor(
        build_frame(view, shown),
        key=f"ledger-grid-{_digest(shown)}",
        hide_index=True,
        width="stretch",
        height=min(560, 38 + 36 * len(shown)),
        row_height=36,
        column_config=config,
        disabled=["site", "status", "part"] if is_editable else True,
        alt=f"Table of facts: {', '.join(COLUMNS.values())} of each",
    )


def _read_changes(shown: Sequence[Fact]) -> Mapping[int, Mapping[str, Any]]:
    """What was changed in the table of these facts, by row."""
    held = st.session_state.get(f"ledger-grid-{_digest(shown)}") or {}
    return held.get("edited_rows", {})  # type: ignore[no-any-return]


def _hold_rows(view: RunSnapshot, wanted: Sequence[Fact], sift: FactFilter) -> Sequence[Fact]:
    """The facts of the frame: those that were there while a run works or an edit is not saved."""
    held: tuple[str, Sequence[Fact]] = st.session_state.get(HELD_FRAME_KEY) or ("", ())
    typed = held[1] and _read_changes(held[1])
    place = f"{view.run.id}|{sift}|{len(view.state.edits)}"
    if held[1] and held[0] == place and (typed or view.run.status is Status.RUNNING):
        if list(held[1]) != list(wanted):
            forget = (st.session_state.pop, HELD_FRAME_KEY, None)
            ui.button("Show what came since", "ledger-refresh", *forget, icon="refresh", type="tertiary")
        return held[1]
    st.session_state[HELD_FRAME_KEY] = (place, wanted)
    return wanted


def _digest(shown: Sequence[Fact]) -> str:
    told = "\n".join(f"{f.id}{f.statement}{f.quote}{f.decision}{f.verified}{f.disputed}" for f in shown)
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def _draw_acts(
    view: RunSnapshot, drafts: list[FactEdit], picked: list[Fact], fitting: Sequence[Fact] = ()
) -> None:
    """What may be done, in one row above the table, which never moves: with what was typed, with the chosen
    rows, else with the facts as they are."""
    with st.container(horizontal=True, vertical_alignment="center", key="ledger-acts"):
        if drafts:
            label = f"Save {format_count(len(drafts), 'changed fact')}"
            ui.button(label, "ledger-save", save, view, drafts, icon="save", type="primary")
        everything = f"ledger-all-{_digest(fitting)}"
        if picked or st.session_state.get(everything):
            _draw_marks(view, list(fitting) if st.session_state.get(everything) else picked)
            st.checkbox(f"All {len(fitting):,}", key=everything)
        elif not drafts:
            _draw_changes(view)


def _draw_marks(view: RunSnapshot, chosen: list[Fact]) -> None:
    ids, n = [fact.id for fact in chosen], format_count(len(chosen), "fact")
    for label, icon, decision in (
        ("Always use", "keep", "pinned"),
        ("Exclude", "block", "struck"),
        ("Restore", "restart_alt", "none"),
    ):
        told = labels.FACT_STATUS.get(decision, "restored")
        more: Any = {
            "icon": icon,
            "given": {"facts": ids, "decision": decision},
            "done": f"{n} {told}. {describe_consequence(view)}".strip(),
            "type": "tertiary",
        }
        if any(fact.decision != decision for fact in chosen):
            ui.act(view, "mark", f"ledger-mark-{decision}", f"{label} {n}", **more)


def _draw_changes(view: RunSnapshot) -> None:
    """Add a fact; undo and redo an edit by its name."""
    adding = ui.popover("Add a fact", ADD_POPOVER, "add_notes", type="tertiary")
    if adding.open:
        with adding:
            _draw_add_form(view)
    if edit := undo_edits.find_undoable(view):
        built = undo_edits.list_built_on(view, edit.step)
        parts = format_count(len(built.steps), "step"), format_count(len(built.sentences), "sentence")
        tip = f"Built on it since: {parts[0]}, {parts[1]} of the answer." if built.steps else None
        more: Any = {"icon": "undo", "help": tip, "given": {"step": edit.step}, "type": "tertiary"}
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
    url, quote = ("" if is_own else at.get(f"{name}-{part}") or "" for part in ("url", "quote"))

    def add() -> int | str:
        if not is_own and not (url.strip() and quote.strip()):
            what = (
                "name the page's address and the words as they stand there, or say that you know it yourself"
            )
            raise UsageError(what)
        statement = at.get(f"{name}-statement") or ""
        return client.workbench().act(view.run.id, "add", statement=statement, url=url, quote=quote)

    def clear(_: int) -> None:
        for part in ("statement", "url", "quote"):
            at.pop(f"{name}-{part}", None)
        ui.close_popover(ADD_POPOVER)

    client.submit(add, done=f"Added. {describe_consequence(view)}".strip(), then=clear)
