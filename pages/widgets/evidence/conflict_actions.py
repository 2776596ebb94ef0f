"""What a person may do about a conflict: rule on it with a reason, open it again, or have the run look for
what would settle it."""

from __future__ import annotations

import streamlit as st

from agent.actions import acts, conflict_rulings
from agent.flows.research.policy import settling_query
from agent.types import Conflict, Status
from agent.workbench import RunSnapshot
from pages.widgets.evidence import facts
from pages.widgets.shell import client, escape, ui


def draw_take(view: RunSnapshot, conflict: Conflict, value: str, n: int) -> None:
    """The menu that takes one side of a conflict."""
    name = f"conflict-take-{conflict.id}-{n}"
    with ui.popover(escape.md(f"{escape.shorten(value, 40)} is right"), name, "check"):
        _draw_reason(conflict, name)
        args = (_settle, view, conflict, "take", value, name)
        ui.button("Write it into the answer", f"{name}-send", *args, type="primary")


def draw(view: RunSnapshot, conflict: Conflict) -> None:
    """The row of buttons below a conflict."""
    with st.container(horizontal=True, vertical_alignment="center", key=f"conflict-doors-{conflict.id}"):
        name = f"conflict-settle-{conflict.id}"
        with ui.popover("Both or neither", name, "gavel", type="tertiary"):
            _draw_reason(conflict, name)
            with st.container(horizontal=True):
                for ruling in ("both", "neither"):
                    verb = "are" if ruling == "both" else "is"
                    args = (_settle, view, conflict, ruling, "", name)
                    ui.button(f"{ruling.capitalize()} {verb} correct", f"{name}-{ruling}", *args)
        if acts.is_possible("look", view):
            key = f"conflict-look-{conflict.id}"
            with ui.popover("Look for more evidence", key, "travel_explore", type="tertiary"):
                _draw_search_form(view, conflict, key)
        if conflict.status == "settled":  # last: the menus before it keep their position
            given = {"conflict": conflict.id, "ruling": "open"}
            key = f"conflict-reopen-{conflict.id}"
            ui.act(view, "settle", key, "Reopen", icon="lock_open", given=given, type="tertiary")


def _draw_reason(conflict: Conflict, name: str) -> None:
    most, hint = conflict_rulings.MAX_REASON_CHARS, "e.g. The register is the first source."
    st.text_input("Why? (shown in the answer)", key=f"{name}-why", max_chars=most, placeholder=hint)


def _settle(view: RunSnapshot, conflict: Conflict, ruling: str, value: str, name: str) -> None:
    client.act(
        view.run.id,
        "settle",
        conflict=conflict.id,
        ruling=ruling,
        value=value,
        because=st.session_state.get(f"{name}-why") or "",
        done=f"Settled. {facts.describe_consequence(view)}".strip(),
        then=lambda _: ui.close_popover(name),
    )


def _draw_search_form(view: RunSnapshot, conflict: Conflict, popover: str) -> None:
    key, most = f"conflict-query-{conflict.id}", conflict_rulings.MAX_REASON_CHARS
    st.text_input("Words to search for", value=settling_query(view.state, conflict), key=key, max_chars=most)
    has_ended = view.run.status in (Status.REVIEW, Status.DONE)
    after = "The run goes on with this search and then writes a new answer."
    st.caption(after if has_ended else "This is the next search of the run.")
    args = (_request_search, view, conflict, key, popover)
    ui.button("Search for this", f"conflict-search-{conflict.id}", *args, type="primary")


def _request_search(view: RunSnapshot, conflict: Conflict, key: str, popover: str) -> None:
    then = {"then": lambda _: ui.close_popover(popover), "done": "This is searched for next."}
    client.act(view.run.id, "look", conflict=conflict.id, words=st.session_state.get(key) or "", **then)
