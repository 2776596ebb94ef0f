"""The list of runs: filters above, a row each to tick, pages, and a bar for what is ticked; a bin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from agent.batch import jobs
from agent.errors import NotFound, StoreError
from agent.text.plurals import format_count
from agent.types import Run, Status
from pages.widgets.run import bundle_import
from pages.widgets.shell import badges, client, empty_state, escape, labels, routes, ui

PAGE_SIZE = 25
FLOW_LABELS = {
    "research": "Research",
    "chat": "Chat",
    "check_text": "Checked text",
    "site": "Site",
    "collect": "Collection",
    "reply": "Reply",
    "verify_again": "Verified again",
}
TEXT_KEY, KIND_KEY, STATE_KEY, BIN_KEY = "runs-text", "runs-kind", "runs-state", "runs-bin"
BIN_ACTS = {False: ("Delete", "delete"), True: ("Restore", "undo")}
"""By whether the bin is shown what is done with an entry, and its icon."""
PAGE_KEY, TICKED_KEY, BATCHES = "runs-page", "runs-ticked", "batch"


def draw() -> None:
    """Filters, the runs that fit, and what can be done with those that are ticked."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        hint, again = "in questions, answers and your notes", {"on_change": _turn, "args": (0,)}
        text = st.text_input(
            "Find", key=TEXT_KEY, placeholder=hint, type="search", live="300ms", width=320, **again
        )
        kinds = {"": "Any kind", **FLOW_LABELS, BATCHES: "Batches"}
        kind = ui.select("Kind", kinds, KIND_KEY, width=150, **again)
        states = {"": "Any"} | {status: word for status, (word, _) in labels.STATUS.items()}
        states[Status.DONE] = "Accepted or done"
        state = ui.select("State", states, STATE_KEY, width=180, **again)
        is_bin = st.toggle("Show deleted", key=BIN_KEY, on_change=_show_bin)
        with st.popover("Import a shared run", icon=":material/upload_file:", type="tertiary"):
            bundle_import.draw()
    client.show_notice("runs")
    if undo := st.session_state.get("runs-undo"):
        with st.container(horizontal=True, vertical_alignment="center", key="runs-undo-row"):
            st.caption("Moved to the bin.")
            ui.button("Undo", "runs-undo-do", _set_deleted, undo, False, icon="undo")
    if kind == BATCHES:
        _draw_batches(is_bin)
        return
    at = int(st.session_state.get(PAGE_KEY, 0))
    wanted = {"status": state or None, "text": text or "", "deleted": is_bin, "flows": [kind] if kind else ()}
    runs = client.workbench().runs(**wanted, limit=PAGE_SIZE + 1, offset=at * PAGE_SIZE)
    with st.container(gap="xsmall", key="runs-list"):
        for run in runs[:PAGE_SIZE]:
            _draw_row(run)
    if not runs and is_bin:
        empty_state.draw("Nothing in the bin fits", "What you delete stays here and can be restored.")
    elif not runs and (text or kind or state or at):
        empty_state.draw("No run fits", "Change the words, the kind or the state above.")
    elif not runs:
        empty_state.draw("No runs yet", "Ask a question on the Research page; all you start is kept here.")
        ui.link("pages/research.py", "Ask a question", "travel_explore")
    with st.container(horizontal=True, key="runs-pages"):
        if at:
            ui.button("Newer", "runs-newer", _turn, at - 1, icon="arrow_back")
        if len(runs) > PAGE_SIZE:
            ui.button("Older", "runs-older", _turn, at + 1, icon="arrow_forward")
    _draw_bar(is_bin)


def _show_bin() -> None:
    """The bin or the list: what was ticked in the other cannot be seen."""
    _untick()
    _turn(0)


def _turn(page: int) -> None:
    st.session_state[PAGE_KEY] = page


def _draw_row(run: Run) -> None:
    """A box to tick, named for who cannot see the row, and the run. What is ticked outlives other filters."""
    key = f"runs-tick-{run.id}"
    st.session_state.setdefault(key, run.id in st.session_state.get(TICKED_KEY, []))
    row: Any = {"horizontal": True, "vertical_alignment": "center"}
    with st.container(border=True, key=f"runs-row-{run.id}", gap=None), st.container(**row):
        label, more = f"Choose “{escape.md(run.question, 80)}”", {"label_visibility": "collapsed"}
        st.checkbox(label, key=key, on_change=_tick, args=(run.id,), width="content", **more)
        with st.container(gap=None):
            question, page = escape.md(run.question, 160), routes.page_for_flow(run.settings.flow)
            ui.link(page, question, "", {"run": run.id})
            st.html(render_details(run, find_lead(run)))


def _tick(run_id: str) -> None:
    chosen = [name for name in st.session_state.get(TICKED_KEY, []) if name != run_id]
    st.session_state[TICKED_KEY] = chosen + [run_id] * bool(st.session_state.get(f"runs-tick-{run_id}"))


def _draw_bar(is_bin: bool) -> None:
    """Where something is ticked, always in view: what can be done with it."""
    chosen = st.session_state.get(TICKED_KEY, [])
    if not chosen:
        return
    row: Any = {"horizontal": True, "vertical_alignment": "center", "key": "runs-compare"}
    with st.container(key="run-bar"), st.container(**row):
        st.caption(f"{len(chosen)} ticked")
        if len(chosen) == 2:
            both = {"run": chosen[0], "with": chosen[1]}
            ui.link("pages/compare.py", "Compare the two", "compare_arrows", both)
        name, icon = BIN_ACTS[is_bin]
        ui.button(name, f"runs-{name.lower()}", _set_deleted, chosen, not is_bin, icon=icon)
        ui.button("Untick", "runs-untick", _untick, type="tertiary")


def _untick() -> None:
    for run_id in st.session_state.pop(TICKED_KEY, []):
        st.session_state.pop(f"runs-tick-{run_id}", None)


def _set_deleted(run_ids: Sequence[str], is_deleted: bool) -> None:
    def change() -> None:
        bench = client.workbench()
        for run_id in run_ids:
            if run_id.startswith("batch:"):
                jobs.set_deleted(bench, run_id.removeprefix("batch:"), is_deleted)
            else:
                (bench.delete if is_deleted else bench.restore)(run_id)

    def remember(_: None) -> None:
        _untick()
        st.session_state["runs-undo"] = run_ids if is_deleted else ()

    told = "" if is_deleted else f"{format_count(len(run_ids), 'entry', 'entries')} back in the list."
    client.submit(change, done=told, then=remember)


def _draw_batches(is_bin: bool) -> None:
    """The batches: each is deleted and restored with its runs."""
    batches = client.workbench().store.batches.list_newest(deleted=is_bin)
    if not batches and is_bin:
        empty_state.draw("No deleted batches", "What you delete stays here and can be restored.")
    elif not batches:
        empty_state.draw("No batches yet", "Ask many questions at once under More, Batch.")
    for batch in batches:
        with st.container(
            border=True, horizontal=True, vertical_alignment="center", key=f"runs-row-{batch.id}"
        ):
            with st.container(gap=None):
                ui.link("pages/batch.py", escape.md(batch.name, 160), "", {"batch": batch.id})
                told = f"{batch.state.capitalize()} · {labels.format_age(batch.updated_at)}"
                st.html(f'<div class="ts small soft">{told}</div>')
            given, (name, icon) = [f"batch:{batch.id}"], BIN_ACTS[is_bin]
            key = f"runs-{name.lower()}-{batch.id}"
            ui.button(name, key, _set_deleted, given, not is_bin, icon=icon, type="tertiary")


def find_lead(run: Run) -> str:
    """The beginning of the newest answer of a run; "" where there is none."""
    try:
        state = client.workbench().snapshot(run.id).state
    except (NotFound, StoreError):
        return ""
    if not state.answers or run.verdict == "checked":
        return ""
    said = state.answers[-1].main_sentences
    return said[0].text if said else state.answers[-1].certainty


def render_details(run: Run, lead: str = "") -> str:
    """What kind of run it is, how it stands and what it answered, as HTML."""
    marks = [(FLOW_LABELS[run.settings.flow], "mute")]
    if run.status in (Status.REVIEW, Status.DONE) and run.verdict:
        marks.append(labels.mark_verdict(run.verdict))
    if run.status is not Status.DONE or run.is_accepted or not run.verdict:
        is_none = run.status is Status.REVIEW and run.verdict == "no_evidence"
        marks += [] if is_none else [labels.mark_status(run)]
    if run.settings.world != "live":
        marks.append((labels.describe_world(run.settings.world), "warn"))
    marks += [("branched", "")] if run.forked_from else []
    marks += [("imported", "warn")] if run.imported else []
    said = f'<p class="lead-line">{escape.html(escape.shorten(lead, 200))}</p>' if lead else ""
    when = f'<span class="small soft" title="Run {run.id}">{labels.format_age(run.created_at)}</span>'
    return f'<div class="ts run">{said}{badges.render_row(marks)}{when}</div>'
