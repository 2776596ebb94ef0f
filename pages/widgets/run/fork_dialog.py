"""Going on from a step in a new run: a button on each card, its form, and where a fork came from."""

from __future__ import annotations

from typing import Any

import streamlit as st

from agent.actions import acts, forks
from agent.text.plurals import format_count
from agent.types.facts import describe_place
from agent.workbench import RunSnapshot
from pages.widgets.forms import budget_fields, form_page
from pages.widgets.run.timeline_cards import Card
from pages.widgets.shell import client, drafts, labels, polling, routes, ui

OPEN_FORM_KEY = "research-fork-at"
"""The session key of the card whose form is open: (run, step)."""


def draw_on_card(view: RunSnapshot, card: Card) -> None:
    """The button on a card; its form when it was pressed."""
    run_id, n = view.run.id, card.end
    if not acts.is_possible("fork", view):
        return
    if st.session_state.get(OPEN_FORM_KEY) == (run_id, n):
        with st.container(border=True, key=f"research-fork-form-{n}"):
            _draw_form(view, n, card.number)
        return
    with st.container(key=f"research-fork-row-{card.n}-{card.kind}"):
        hint = "A new run with everything up to here; this one stays as it is"
        look: Any = {"icon": "fork_right", "type": "tertiary", "help": hint}
        key = f"research-fork-{card.n}-{card.kind}"
        ui.button(
            _name_branch(card.number),
            key,
            lambda: st.session_state.update({OPEN_FORM_KEY: (run_id, n)}),
            **look,
        )


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
        told = (
            f"Branched {describe_place(view.state.actions, run.forked_at)}: all before is that of "
            f"{'the' if known else 'a'} run before it.{paid}"
        )
        st.caption(told, width="content")
        if known:
            ui.link(
                routes.page_for_flow(known.settings.flow), "The original", "fork_right", {"run": known.id}
            )
            both = {"run": known.id, "with": run.id}
            ui.link("pages/compare.py", "Compare with the original", "compare_arrows", both)


def _name_branch(number: int) -> str:
    """With the number of the card; the other cards have none."""
    return f"Branch from step {number}" if number else "Branch from here"


def _draw_form(view: RunSnapshot, n: int, number: int = 0, *, bare: bool = False) -> None:
    """A note, the model, and what may be otherwise. A `bare` one asks for the first two: it stands in a
    popover already."""
    run_id, given = view.run.id, view.run.settings
    st.html(f'<div class="ts"><b>{_name_branch(number)} into a new run</b></div>')
    hint = "e.g. Leave out everything from example.org."
    drafts.text_area("Instructions (optional)", f"fork:{run_id}:{n}", placeholder=hint, height=80)
    ui.private_box(f"fork:{run_id}:{n}")
    model = form_page.choose_model(f"research-fork-{run_id}-{n}", given)
    changed: dict[str, Any] = {"model": model} if model != given.model else {}
    if bare:
        _draw_start(run_id, n, changed)
        return
    with st.popover("Other settings", icon=":material/tune:", key=f"research-fork-settings-{n}"):
        start = list(labels.UNTIL).index(given.stop_point)
        until = ui.select("Run until", labels.UNTIL, f"research-fork-until-{n}", index=start)
        if given.flow == "research":
            changed |= budget_fields.draw_fields(f"research-fork-{n}", given, model=client.has_model(model))
    changed |= {"until": until, "mode": "step" if until == "step" else "auto"}
    changed = {name: value for name, value in changed.items() if value != getattr(given, name)}
    with st.container(horizontal=True):
        _draw_start(run_id, n, changed)
        ui.button("Cancel", f"research-fork-cancel-{n}", _close_form)


def _draw_start(run_id: str, n: int, changed: dict[str, Any]) -> None:
    look: Any = {"icon": "fork_right", "type": "primary"}
    ui.button("Start branch", f"research-fork-start-{n}", _start_fork, run_id, n, changed, **look)


def _close_form() -> None:
    st.session_state.pop(OPEN_FORM_KEY, None)


def _start_fork(run_id: str, n: int, changed: dict[str, Any]) -> None:
    draft = f"fork:{run_id}:{n}"

    def show(new: str) -> None:
        drafts.clear(draft)
        _close_form()
        st.query_params.from_dict({"run": new})
        st.session_state[polling.SWITCHED_KEY] = True

    note = {"note": drafts.read(draft), "private": ui.is_private(draft)}
    client.act(run_id, "fork", step=n, settings={"at_cap": "ask", **changed}, then=show, **note)
