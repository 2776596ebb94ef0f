"""Going on from a step in a new run: the quiet button on each card, the form behind it, and where a fork says
what it came from."""

from __future__ import annotations

from typing import Any

import streamlit as st

from agent.actions import forks
from agent.flows import STEP_LABELS
from agent.text.plurals import format_count
from agent.types import StopPoint
from agent.workbench import RunSnapshot
from pages.widgets.forms import budget_fields, form_fields
from pages.widgets.run import timeline_cards
from pages.widgets.run.timeline_cards import Card
from pages.widgets.shell import client, drafts, labels, polling, routes, ui

OPEN_FORM_KEY = "research-fork-at"
"""The session key of the card whose form is open: (run, step)."""


def draw_on_card(view: RunSnapshot, card: Card) -> None:
    """The button on a card; its form when it was pressed."""
    run_id, n = view.run.id, card.end
    if view.run.settings.flow not in forks.FORKABLE_FLOWS:
        return
    if st.session_state.get(OPEN_FORM_KEY) == (run_id, n):
        with st.container(border=True, key=f"research-fork-form-{n}"):
            _draw_form(view, n)
        return
    with st.container(key=f"research-fork-row-{card.n}-{card.kind}"):
        ui.button(
            f"Branch from step {n}",
            f"research-fork-{card.n}-{card.kind}",
            _open_form,
            run_id,
            n,
            icon="fork_right",
            type="tertiary",
            help="A new run with everything up to here; this one stays as it is",
        )


def draw_menu(view: RunSnapshot) -> None:
    """The same for a screen without cards: a step is chosen from a list."""
    opened = st.popover(
        "Branch from a step",
        icon=":material/fork_right:",
        key=f"research-fork-menu-{view.run.id}",
        on_change="rerun",
    )
    if not opened.open:
        return
    with opened:
        steps = {
            step.n: timeline_cards.PERSON_STEP_TITLES.get(step.name)
            or STEP_LABELS.get(step.name)
            or step.name
            for step in reversed(view.steps)
        }
        n = st.selectbox(
            "Keep everything up to",
            list(steps),
            key=f"research-fork-step-{view.run.id}",
            format_func=lambda n: f"step {n}: {steps[n]}",
        )
        if n is not None:
            _draw_form(view, n, bare=True)


def draw_origin(view: RunSnapshot) -> None:
    """Of a fork: the run it came from and what it shares with it."""
    run = view.run
    if not run.forked_from:
        return
    known, spent = (
        forks.find_parent_run(client.workbench(), run),
        forks.measure_shared_usage(client.workbench(), view),
    )
    paid = f" Their {format_count(spent.llm_calls, 'model call')} were paid there." if spent.llm_calls else ""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="research-forked"):
        told = f"Branched at step {run.forked_at}: the steps up to there are those of {'the' if known else 'a'} run before it.{paid}"
        st.caption(told, width="content")
        if known:
            ui.link(
                routes.page_for_flow(known.settings.flow), "The original", "fork_right", {"run": known.id}
            )
            both = {"run": known.id, "with": run.id}
            ui.link("pages/compare.py", "Compare with the original", "compare_arrows", both)


def _draw_form(view: RunSnapshot, n: int, *, bare: bool = False) -> None:
    """A note, and what may be otherwise; none of it is needed. A `bare` one asks for the note alone: it
    stands in a popover already."""
    run_id, given = view.run.id, view.run.settings
    note, draft = f"research-fork-note-{run_id}-{n}", f"fork:{run_id}:{n}"
    st.html(f'<div class="ts"><b>Branch from step {n} into a new run</b></div>')
    drafts.text_area(
        "Instructions (optional)",
        note,
        draft,
        placeholder="e.g. Leave out everything from example.org.",
        height=80,
    )
    changed: dict[str, Any] = {}
    if bare:
        ui.button(
            "Start branch",
            f"research-fork-start-{n}",
            _start_fork,
            run_id,
            n,
            note,
            draft,
            changed,
            icon="fork_right",
            type="primary",
        )
        return
    with st.popover("Other settings", icon=":material/tune:", key=f"research-fork-settings-{n}"):
        model = form_fields.choose_model(f"research-fork-{n}")
        until: StopPoint = st.selectbox(
            "Run until",
            list(labels.UNTIL),
            index=list(labels.UNTIL).index(given.stop_point),
            key=f"research-fork-until-{n}",
            format_func=lambda name: f"Run {labels.UNTIL[name]}",
            filter_mode=None,
        )
        if given.flow == "research":
            changed |= budget_fields.draw_fields(f"research-fork-{n}", given, model=model != "keyless")
    changed |= {"until": until, "mode": "step" if until == "step" else "auto", "model": model}
    changed = {
        name: value
        for name, value in changed.items()
        if value != getattr(given, name) and not _is_same_model(name, value, given.model)
    }
    with st.container(horizontal=True):
        ui.button(
            "Start branch",
            f"research-fork-start-{n}",
            _start_fork,
            run_id,
            n,
            note,
            draft,
            changed,
            icon="fork_right",
            type="primary",
        )
        ui.button("Cancel", f"research-fork-cancel-{n}", _close_form)


def _is_same_model(name: str, value: object, was: str) -> bool:
    """Is it no other model: the configured one chosen again under its own name, or none where none is?"""
    return name == "model" and (
        value == was
        or (was not in ("auto", "keyless") and value == "auto")
        or not client.workbench().active_configuration().model
    )


def _open_form(run_id: str, n: int) -> None:
    st.session_state[OPEN_FORM_KEY] = (run_id, n)


def _close_form() -> None:
    st.session_state.pop(OPEN_FORM_KEY, None)


def _start_fork(run_id: str, n: int, note: str, draft: str, changed: dict[str, Any]) -> None:
    def opened(new: str) -> None:
        drafts.clear(note, draft)
        _close_form()
        st.query_params["run"] = new
        st.session_state[polling.SWITCHED_KEY] = True

    def fork() -> str:
        return forks.fork_run(
            client.workbench(), run_id, n, note=st.session_state.get(note) or "", at_cap="ask", **changed
        )

    client.submit(fork, then=opened)
