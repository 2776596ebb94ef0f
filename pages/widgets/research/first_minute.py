"""The first minute: a finished example on the empty screen, walked through in three hints."""

from __future__ import annotations

from typing import Any

import streamlit as st

from agent.llm.recorded import RECORDED, list_examples
from agent.types import Answer, Settings, Status
from agent.workbench import RunSnapshot
from pages.widgets.forms import form_page
from pages.widgets.run import answer_pane
from pages.widgets.shell import client, markup, ui

SHOWN = "example-hint"
"""Session: the run that is walked through, and the number of its hint."""
HINTS = (
    ("The answer", "Every sentence is tied to its sources. What they do not say is marked: ✗."),
    ("Its evidence", "Click a sentence, and the quote it stands on is here, with the words around it."),
    ("Your word", "Exclude or correct a quote beside it. Here: accept, send back with a note, export."),
)


def draw_example() -> None:
    """The way to a finished example for who has no run yet, and to a model where none is connected."""
    bench = client.workbench()
    reports = (one for one in list_examples() if one.get("settings", {}).get("report") == "full")
    example = next(reports, None)  # it shows most
    has_model, is_new = bool(bench.active_configuration().model), not bench.store.ledger.list(limit=1)
    if has_model and not is_new:
        return
    border, key = is_new and bool(example), "first-minute"
    with st.container(border=border, horizontal=True, vertical_alignment="center", key=key):
        if example and is_new:
            told = "a table, a chart, sources that disagree, and a sentence that its source does not hold."
            words = f"<b>A finished report to look at.</b> Three mountain huts: {told}"
            st.html(f'<div class="ts">{markup.paragraph(words, "")}</div>', width="stretch")
            ui.button("Open the example", "first-minute-open", _open_example, example, icon="menu_book")
        if not has_model:
            ui.link("pages/settings.py", "Connect a model", "key")


def _open_example(example: dict[str, Any]) -> None:
    """Open the run of the example that is there, else answer it by its recorded replies; begin the walk."""
    bench, chosen = client.workbench(), {"world": "demo", "model": RECORDED, **example.get("settings", {})}
    found = bench.store.ledger.list(flows=["research"], first_turns=True)
    done = [run for run in found if run.question == example["question"] and run.status in READY]
    known = [run.id for run in done if run.settings.model == RECORDED]

    def start() -> str:
        return known[0] if known else bench.start(example["question"], Settings(**chosen))

    form_page.start_run(start)
    st.session_state[SHOWN] = (st.query_params.get("run", ""), 0)


READY = (Status.REVIEW, Status.DONE)


def draw_hint(view: RunSnapshot) -> None:
    """The hint that is due beside what it speaks of; nothing where none was asked for."""
    run_id, n = st.session_state.get(SHOWN, ("", 0))
    if run_id != view.run.id or not view.state.answers or view.run.status not in READY:
        return
    title, text = HINTS[n]
    with st.container(key=f"hint-{n + 1}", border=True, gap="small"):
        told = markup.paragraph(f"<b>{title}</b> {n + 1} of {len(HINTS)}") + markup.paragraph(text, "small")
        st.html(f'<div class="ts" role="status">{told}</div>')
        with st.container(horizontal=True):
            if n + 1 < len(HINTS):
                answer = view.state.answers[-1]
                ui.button("Next", "walk-next", _show_next, run_id, n, answer, type="primary")
            last = "Got it" if n + 1 == len(HINTS) else "Skip"
            ui.button(last, "walk-end", st.session_state.pop, SHOWN, None, type="tertiary", shortcut="Escape")


def _show_next(run_id: str, n: int, answer: Answer) -> None:
    """The next hint; the second one opens the evidence of the sentence that its sources do not back."""
    st.session_state[SHOWN] = (run_id, n + 1)
    if n == 0:
        checks = [said.check for said in answer.sentences]
        doubted = checks.index("not_supported") if "not_supported" in checks else 0
        answer_pane.open_evidence(f"{run_id}.a{answer.n}.s{doubted + 1}")
