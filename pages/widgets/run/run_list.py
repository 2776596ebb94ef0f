"""The list of runs: filters above, one row a run, a bin with a way back."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from agent.errors import NotFound, StoreError
from agent.types import Run, Status
from pages.widgets.shell import badges, client, escape, labels, routes, ui

PAGE_SIZE = 25
FLOW_LABELS = {
    "research": "Research",
    "site": "Site",
    "collect": "Collection",
    "check_text": "Checked text",
    "reply": "Reply",
    "chat": "Chat",
}
TEXT_KEY, STATE_KEY, BIN_KEY, MORE_KEY, TICKED_KEY = (
    "runs-text",
    "runs-state",
    "runs-bin",
    "runs-more",
    "runs-ticked",
)


def draw_filters() -> None:
    """Words, state, bin."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(
            "Find", key=TEXT_KEY, placeholder="words of the question", type="search", live="300ms", width=340
        )
        states = {"": "Any", **labels.STATUS, Status.DONE: "Accepted or done"}
        ui.select("State", states, STATE_KEY, width=220)
        st.toggle("Show deleted", key=BIN_KEY)
    undo = st.session_state.get("runs-undo")
    if undo:
        with st.container(horizontal=True, vertical_alignment="center", key="runs-undo-row"):
            st.caption("Moved to the bin.")
            ui.button("Undo", "runs-undo-do", _restore, undo, icon="undo")
    client.show_notice("runs")


def is_filtered() -> bool:
    """Is anything set that may hide runs?"""
    return bool(
        st.session_state.get(TEXT_KEY) or st.session_state.get(STATE_KEY) or st.session_state.get(BIN_KEY)
    )


def find_runs() -> list[Run]:
    """The runs that fit, newest first: those to be shown, and one more where there are more."""
    is_in_bin, text = bool(st.session_state.get(BIN_KEY)), st.session_state.get(TEXT_KEY) or ""
    state = st.session_state.get(STATE_KEY) or None
    return client.workbench().runs(status=state, text=text, deleted=is_in_bin, limit=_count_shown() + 1)


def _count_shown() -> int:
    return PAGE_SIZE + PAGE_SIZE * int(st.session_state.get(MORE_KEY, 0))


def draw(runs: Sequence[Run]) -> None:
    """The rows, twenty-five at first."""
    shown = _count_shown()
    with st.container(gap="xsmall", key="runs-list"):
        for run in runs[:shown]:
            _draw_row(run)
    if len(runs) > shown:
        ui.button("Show more", "runs-show-more", _show_more)
    _draw_compare_bar([run.id for run in runs])


def _draw_row(run: Run) -> None:
    with (
        st.container(border=True, key=f"runs-row-{run.id}", gap=None),
        st.container(horizontal=True, vertical_alignment="center"),
    ):
        if not st.session_state.get(BIN_KEY):
            _draw_tick(run)
        with st.container(gap=None):
            ui.link(
                routes.page_for_flow(run.settings.flow), escape.md(run.question, 160), "", {"run": run.id}
            )
            st.html(render_details(run, find_lead(run)))
        if st.session_state.get(BIN_KEY):
            ui.button("Restore", f"runs-restore-{run.id}", _restore, run.id, icon="undo")
        else:
            ui.button("Delete", f"runs-delete-{run.id}", _delete, run.id, icon="delete", type="tertiary")


def _draw_tick(run: Run) -> None:
    """A box to tick, named for who cannot see the row. What is ticked outlives a change of the filters."""
    label = f"Compare “{escape.md(run.question, 80)}”"
    st.checkbox(
        label,
        key=f"runs-tick-{run.id}",
        label_visibility="collapsed",
        on_change=_save_tick,
        args=(run.id,),
        width="content",
    )


def _save_tick(run_id: str) -> None:
    chosen = [name for name in st.session_state.get(TICKED_KEY, []) if name != run_id]
    st.session_state[TICKED_KEY] = (
        [*chosen, run_id] if st.session_state.get(f"runs-tick-{run_id}") else chosen
    )


def _draw_compare_bar(listed: Sequence[str]) -> None:
    """Where something is ticked, always in view: the way to compare two runs, or what is missing."""
    chosen = [name for name in st.session_state.get(TICKED_KEY, []) if name in listed]
    if not chosen:
        return
    with (
        st.container(key="run-bar"),
        st.container(horizontal=True, vertical_alignment="center", key="runs-compare"),
    ):
        if len(chosen) == 2:
            both = {"run": chosen[0], "with": chosen[1]}
            ui.link("pages/compare.py", "Compare the two ticked runs", "compare_arrows", both)
        else:
            st.caption(
                "Tick one more to compare the two."
                if len(chosen) == 1
                else f"{len(chosen)} are ticked; two can be compared."
            )


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
    status = "No answer" if run.verdict == "no_evidence" else labels.describe_status(run)
    marks = [(FLOW_LABELS[run.settings.flow], "mute"), (status, labels.STATUS_TONE[run.status])]
    if run.verdict and run.verdict != "no_evidence":
        marks.append((labels.VERDICT.get(run.verdict, run.verdict), labels.VERDICT_TONE.get(run.verdict, "")))
    if run.settings.world != "live":
        marks.append((labels.describe_world(run.settings.world), "warn"))
    if run.forked_from:
        marks.append(("branched", ""))
    if run.imported:
        marks.append(("imported", "warn"))
    said = f'<p class="lead-line">{escape.html(escape.shorten(lead, 200))}</p>' if lead else ""
    when = f'<span class="small soft" title="Run {run.id}">{labels.format_age(run.created_at)}</span>'
    return f'<div class="ts run">{said}{badges.render_row(marks)}{when}</div>'


def _delete(run_id: str) -> None:
    client.submit(
        client.workbench().delete, run_id, then=lambda _: st.session_state.update({"runs-undo": run_id})
    )


def _restore(run_id: str) -> None:
    client.submit(client.workbench().restore, run_id, done="The run is back in the list.")
    st.session_state.pop("runs-undo", None)


def _show_more() -> None:
    st.session_state[MORE_KEY] = int(st.session_state.get(MORE_KEY, 0)) + 1
