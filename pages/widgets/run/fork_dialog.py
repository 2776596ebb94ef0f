"""Going on from a step in a new run: the form of such a variant, and where one came from."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import streamlit as st

from agent.errors import UsageError
from agent.text.plurals import format_count
from agent.types.facts import describe_place
from agent.workbench import RunSnapshot
from pages.widgets.forms import budget_fields, form_page
from pages.widgets.shell import client, drafts, labels, polling, routes, ui


def draw_origin(view: RunSnapshot) -> None:
    """Of a variant: the run it came from and what it shares with it."""
    run, bench = view.run, client.workbench()
    if not run.forked_from:
        return
    known = None
    with suppress(UsageError):  # it may be gone
        known = bench.store.ledger.get(run.forked_from)
    shared = view.usage.llm_calls - bench.store.calls.sum_usage(run.id, run.forked_at).llm_calls
    paid = f" Their {format_count(shared, 'model call')} were paid there." if shared else ""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="research-forked"):
        place = describe_place(view.state.actions, run.forked_at)
        whose = "the" if known else "another"
        told = f"A variant that begins {place}: all before is that of {whose} original.{paid}"
        st.caption(told, width="content")
        if known:
            path = routes.page_for_flow(known.settings.flow)
            ui.link(path, "The original", "fork_right", {"run": known.id})
            both = {"run": known.id, "with": run.id}
            ui.link("pages/compare.py", "Compare with the original", "compare_arrows", both)


def draw_form(view: RunSnapshot, n: int, close: Callable[[], Any]) -> None:
    """A note, the model, and what may be otherwise from step `n` on."""
    run_id, given = view.run.id, view.run.settings
    with st.container(border=True, key=f"research-fork-form-{n}"):
        st.caption("A new run with everything up to here; this one stays as it is.")
        hint = "e.g. Leave out everything from example.org."
        drafts.text_area("Instructions (optional)", f"fork:{run_id}:{n}", placeholder=hint, height=80)
        ui.private_box(f"fork:{run_id}:{n}")
        model = form_page.choose_model(f"research-fork-{run_id}-{n}", given)
        changed: dict[str, Any] = {"model": model}
        with st.expander("Other settings", icon=":material/tune:"):
            start = list(labels.UNTIL).index(given.stop_point)
            until = ui.select("Run until", labels.UNTIL, f"research-fork-until-{n}", index=start)
            changed |= {"until": until, "mode": "step" if until == "step" else "auto"}
            if given.flow == "research":
                key = f"research-fork-{n}"
                changed |= budget_fields.draw_fields(key, given, model=client.has_model(model))
        changed = {name: value for name, value in changed.items() if value != getattr(given, name)}
        with st.container(horizontal=True):
            look: Any = {"icon": "fork_right", "type": "primary"}
            key = f"research-fork-start-{n}"
            ui.button("Start the variant", key, _start, run_id, n, changed, close, **look)
            ui.button("Cancel", f"research-fork-cancel-{n}", close)


def _start(run_id: str, n: int, changed: dict[str, Any], close: Callable[[], Any]) -> None:
    draft = f"fork:{run_id}:{n}"

    def show(new: str) -> None:
        drafts.clear(draft)
        close()
        st.query_params.from_dict({"run": new})
        st.session_state[polling.SWITCHED_KEY] = True

    note = {"note": drafts.read(draft), "private": ui.is_private(draft)}
    client.act(run_id, "fork", step=n, settings={"at_cap": "ask", **changed}, then=show, **note)
